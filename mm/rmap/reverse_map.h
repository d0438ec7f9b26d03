/* SPDX-License-Identifier: MIT */
/*
 * The reverse map: from a page to the entries of all spaces that map it, and what reclaim and write-back do
 * with these.
 *
 * A page's mappings are found by its object (mm/rmap/object_link.h), or by the node of a space that its
 * anonymous memory comes from (mm/rmap/anon.h). Both give *candidates*: a space and an address. The page
 * table entry decides. A walk can miss an entry, one that is moving, or has just been copied by a fork; so
 * nobody may conclude from a walk that a page is not mapped: the mapcount says that.
 *
 * All here may sleep, on semaphores of ranks MAPPINGS and ANON. The caller holds locks above these at most,
 * has a reference on the page, and has it PG_locked: so an anonymous page gets no first mapping meanwhile. No
 * fault path, but where a fault reclaims, with nothing held.
 */
#ifndef MM_RMAP_REVERSE_MAP_H
#define MM_RMAP_REVERSE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/page/frames.h"
#include "mm/policy/policy.h"
#include "mm/rmap/space.h"
#include "mm/table/table.h"

/* A system's. Read only. */
struct rmap {
	struct frames *frames;
	/* The policy's: pte_trylock_mapping() or pte_lock_mapping(). */
	int (*lock)(struct table *table, uintptr_t address, uint64_t pfn, struct pte_ref *ref);
	bool dirty_by_pte;    /* policy->dirty_tracking */
	bool transfers_dirty; /* that, and policy->dirty_transfer */
};

void rmap_init(struct rmap *rmap, struct frames *frames, const struct policy *policy);

/* What a walk met. Set by each call. */
struct rmap_found {
	unsigned candidates; /* places looked at, also in vain */
	unsigned visited;    /* entries that map the page, and whose lock was had */
	unsigned references; /* of those: touched since the last scan */
	unsigned skipped;    /* entries that map the page, or seem to, whose lock another CPU had (`try`) */
	bool locked;         /* a VMA that is locked in memory maps the page, or may: it is being changed */
};

/*
 * Clears the accessed bits of the page's entries and counts them in found->references. With
 * dirty_tracking=pte and dirty_transfer=on, and for anonymous pages of the swap cache always, entries that
 * are dirty become clean and make the page PG_dirty. Nothing is flushed: what a CPU or a software TLB still
 * has shows no touch until it looks again. Who clears PG_dirty flushes all mappings before it reads the page,
 * so no write is missed.
 */
void page_referenced(const struct rmap *rmap, struct page *page, struct rmap_found *found);

/* What try_to_unmap() has come to. */
enum unmap_result {
	UNMAP_DONE,  /* nothing maps the page. Its last entries may be in use until the flush */
	UNMAP_AGAIN, /* something does still: an entry was skipped, missed, or came meanwhile */
	UNMAP_LOCKED /* something does still, and a VMA that is locked in memory is among it */
};

#define RMAP_BATCH_PAGES  32u
#define RMAP_BATCH_TABLES 16u

/*
 * Pages that are unmapped together. Lives in the caller's frame. Between the first try_to_unmap() and the
 * flush the caller waits for no lock and no flag of a page: spaces that end wait for the flush.
 */
struct rmap_batch {
	const struct rmap *rmap;
	unsigned tables, pages;
	/* Entries of them have lost translations of [start, end). */
	struct {
		struct rmap_space *space; /* kept */
		uintptr_t start, end;
		bool changing; /* as struct gather's */
	} table[RMAP_BATCH_TABLES];
	/* Mappings that they have lost, whose references are put after the flush. */
	struct {
		struct page *page;
		uint32_t mappings;
	} page[RMAP_BATCH_PAGES];
};

void rmap_batch_begin(struct rmap_batch *batch, const struct rmap *rmap);

/*
 * Takes the page's entries away. Those of an anonymous page, which is in the swap cache, come to name its
 * slot, each with a reference; those of an object's become empty. One that is dirty makes the page PG_dirty
 * before others can see the change (a file's only with dirty_tracking=pte: with `fault` it is dirty already).
 * Entries of VMAs that are locked in memory stay. `found` is set.
 *
 * An anonymous page that is not in the swap cache must be PG_lazy_free, and the caller have one reference on
 * it: its entries become empty, but stay if the page is pinned; and if it was written to, which ends that it
 * is PG_lazy_free.
 *
 * A batch that has no room is flushed on the way. What the caller does next with the page (write it, take it
 * away) comes after rmap_batch_flush().
 */
enum unmap_result try_to_unmap(struct rmap_batch *batch, struct page *page, struct rmap_found *found);

/*
 * Flushes each space once, and then puts the mappings' references. Acquire and release: what was done through
 * the entries comes before what the caller does next. The batch is empty then and can go on.
 */
void rmap_batch_flush(struct rmap_batch *batch);

/*
 * Takes the dirty bit, and with dirty_tracking=fault the right to write, away from all entries by which an
 * object's page is mapped shared, waiting for each entry's lock, and flushes them. Returns whether one was
 * dirty; the page's flags are the caller's. Misses nothing: an entry that becomes writable later was made so
 * by a fault that has locked it after this looked, and that makes the page dirty again (docs/LOCKING.md, "A
 * write fault and a write-back").
 */
bool page_mkclean(const struct rmap *rmap, struct page *page);

#endif
