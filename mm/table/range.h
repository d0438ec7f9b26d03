/* SPDX-License-Identifier: MIT */
/*
 * Work on all last-level entries of a range, at the pace of the tables that exist. Each is called by the one
 * writer of a space (its lock held for writing, or as said there), while faults and touches of other
 * CPUs go on; every entry is changed under its PTE lock, whatever the policy makes that.
 *
 * Where a VMA is said to be detached, it was so by the policy's own vma_lookup_ops.detach(), whose barrier
 * stands between the flag and the entries that are read here.
 */
#ifndef MM_TABLE_RANGE_H
#define MM_TABLE_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "mm/table/gather.h"
#include "mm/table/table.h"

/*
 * Empties [start, end): counted pages go to `gather` (their mapping is dropped; their reference and so their
 * frame when no CPU has a translation any more), and last-level tables that lie wholly inside are unhooked
 * and retired. When this returns, no fault that found a VMA which was detached before the call has installed,
 * or will ever install, anything in the range. Not in an RCU read section.
 */
void table_zap(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather);

/*
 * Unhooks and retires the last-level tables that lie wholly in [floor, ceiling), where nothing is mapped any
 * more: after table_zap() of a smaller range whose neighbours end at floor and begin at ceiling.
 */
void table_unhook(struct table *table, uintptr_t floor, uintptr_t ceiling);

/* As table_zap() but tables stay and VMAs are not detached: MADV_DONTNEED. The space's lock for reading is
 * enough. */
void table_zap_pages(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather);

/*
 * MADV_FREE: makes the pages' entries clean and marks the pages lazily free; drops what is in swap. As above.
 * A page that is lazily free may be dropped if all its entries are clean, and it is not PG_dirty.
 */
void table_mark_free(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather);

/*
 * Gives the entries of [start, end) a new protection: `writable` false takes the write bit away; true gives
 * nothing (the next write faults and decides about a copy). `executable` sets or clears NX; `accessible`
 * false (PROT_NONE) keeps the page but makes every touch fault.
 */
void table_protect(struct table *table, uintptr_t start, uintptr_t end, bool accessible, bool writable,
		   bool executable, struct gather *gather);

/*
 * Fork: maps the pages of [start, end) of `parent` in `child` too (which nobody uses yet); `copy_on_write`
 * write protects both. The child's tables are charged to `charge`. Returns 0, or -ENOMEM: what is in the
 * child by then is the caller's to zap.
 */
int table_copy(struct table *child, struct table *parent, uintptr_t start, uintptr_t end, bool copy_on_write,
	       struct charge *charge, struct gather *gather);

/*
 * mremap: moves the entries of [start, end) to `target` on, whose entries are empty. The VMA of the source is
 * detached, that of the target not in the tree yet, so no fault comes between. All tables that the target
 * needs are made first, and charged to `charge`: returns -ENOMEM with nothing moved, or 0.
 */
int table_move(struct table *table, uintptr_t start, uintptr_t end, uintptr_t target, struct charge *charge,
	       struct gather *gather);

/*
 * Truncation and hole punching: empties the entries of one last-level table, the first at or after `start`;
 * with `keep_anonymous` only those that map pages of an object. And write-back: takes the right to write away
 * from entries that map pages of an object, makes them clean, and has the range flushed in any case; with
 * frames->set_dirty they keep the right, and that is called first for those that were dirty, if `tell`. Both
 * return where to go on, which is before the table's end when the gather is full, and `end` when there is
 * nothing more. In one RCU read section with tlb_gather_mmu(), with no lock of the space. The VMA is linked
 * in its object, and that object's mappings_lock is held: so entries do not move.
 */
uintptr_t table_zap_object(struct table *table, uintptr_t start, uintptr_t end, bool keep_anonymous,
			   struct gather *gather);
uintptr_t table_clean_object(struct table *table, uintptr_t start, uintptr_t end, bool tell,
			     struct gather *gather);

/*
 * MADV_COLD, MADV_PAGEOUT: takes references on up to `max` pages that entries of [*start, end) map and nobody
 * else maps, into `pages`; with `make_old` the entries lose their accessed bits, unflushed. Returns how many;
 * *start becomes where to go on, `end` when there is nothing more. In an RCU read section, with no lock of
 * the space.
 */
unsigned table_get_pages(struct table *table, uintptr_t *start, uintptr_t end, bool make_old,
			 struct page **pages, unsigned max);

/* Calls `visit` for each non-empty last-level entry in order, under its PTE lock; stops when it returns
 * nonzero, and returns that. */
int table_for_each(struct table *table, uintptr_t start, uintptr_t end,
		   int (*visit)(void *argument, uintptr_t address, uint64_t pte), void *argument);

/*
 * Waits for everyone who has an entry of [start, end) locked at the moment. Who locks one later sees what the
 * caller has written before, if it looks sequentially consistent. In an RCU read section.
 */
void table_settle(struct table *table, uintptr_t start, uintptr_t end);

#endif
