/* SPDX-License-Identifier: MIT */
/*
 * A TLB gather: pages whose last mapping may be gone, kept until no CPU can have a translation of them. When
 * there is no room for more, the CPUs that run the space are flushed once, and all is released, batch by
 * batch.
 *
 * As in Linux 3.16 (mm/memory.c, functions of the same names): a few pages fit into the gather itself; more
 * batches are pages of pointers, of frames that the gather takes as it needs them, at most so many that it
 * holds about 10,000 pages. When there is no frame, it is full earlier.
 */
#ifndef MM_TABLE_GATHER_H
#define MM_TABLE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/page/page.h"

struct table;

/* Batches that are frames, at most. */
#define GATHER_BATCHES_MAX 19u

/* Of the batch in the gather itself. */
#define GATHER_LOCAL_PAGES 8u

struct gather_batch {
	struct gather_batch *next;
	unsigned count, max; /* pages that it has, and has room for */
	struct page *page[];
};

#define GATHER_BATCH_PAGES \
	((unsigned)((PORT_PAGE_SIZE - sizeof(struct gather_batch)) / sizeof(struct page *)))

/* Lives in the caller's frame. */
struct gather {
	struct table *table;
	uintptr_t start, end;  /* what must be flushed so far; empty when start >= end */
	bool changing;         /* the space has TLBs: translations_change_begin() */
	bool write_protecting; /* translations.write_protecting is odd because of us */
	bool holding;          /* in a read section: tlb_hold_pages() */
	unsigned batches;      /* that are frames */
	struct gather_batch *active;
	union {
		struct gather_batch local;
		char local_room[sizeof(struct gather_batch) + GATHER_LOCAL_PAGES * sizeof(struct page *)];
	};
};

/*
 * From before the first entry changes. The space's lock is held until the last one has changed; or the first
 * and the last one change in one RCU read section with this.
 */
void tlb_gather_mmu(struct gather *gather, struct table *table);

/*
 * Before the first entry of some is taken away: begins an RCU read section, if the gather is in none, that
 * ends when what it gathers has been released. So who finds no memory, since gathers hold it, waits for a
 * grace period (mm/reclaim/). Until then the caller does not sleep.
 */
void tlb_hold_pages(struct gather *gather);

/*
 * Adds a page that has lost a mapping: its reference is dropped once all CPUs are flushed. There is room:
 * gather_room(). May take a frame: as frame_alloc(). Pages are held.
 */
void tlb_remove_page(struct gather *gather, uintptr_t address, struct page *page);

/*
 * Adds what an entry that named a swap slot has left: puts its reference on the slot, and if that was the
 * last one, the page that was still in the cache goes with those that are gathered. The entry, which may be
 * locked, names the slot no more. There is room. As tlb_remove_page(), but nothing needs to be flushed.
 */
void tlb_remove_swap(struct gather *gather, uint64_t pte);

/* Notes that an entry of [start, end) lost a right: it must be flushed before the operation returns. */
void gather_flush_range(struct gather *gather, uintptr_t start, uintptr_t end);

/*
 * Notes that entries are about to lose the right to write because their pages become shared, until
 * tlb_finish_mmu(). The space's lock is held for writing.
 */
void gather_write_protect(struct gather *gather);

/*
 * Flushes what is due and releases what is left. Entries that another gather has taken away meanwhile are
 * flushed from TLBs, too.
 */
void tlb_finish_mmu(struct gather *gather);

/*
 * In the middle of an operation: flushes what is due, then releases what was gathered so far. No PTE lock is
 * held and the caller is in no RCU read section but the gather's, which ends.
 */
void tlb_flush_mmu_tlbonly(struct gather *gather);
void tlb_flush_mmu_free(struct gather *gather);

/* Whether tlb_remove_page() can take one more without a flush. */
static inline bool gather_room(const struct gather *gather)
{
	return gather->active->count < gather->active->max;
}

#endif
