/* SPDX-License-Identifier: MIT */
/*
 * The reverse map against the page tables of all spaces, entry by entry; and putting pages out by it.
 */
#ifndef TESTS_COMMON_RMAP_WORK_H
#define TESTS_COMMON_RMAP_WORK_H

#include <errno.h>

#include "mm/page/page_wait.h"
#include "mm/rmap/anon.h"
#include "mm/rmap/reverse_map.h"
#include "mm/rmap/walk.h"
#include "mm/space/space.h"
#include "mm/swap/swap.h"
#include "port/rcu.h"

/* A place at which a page is mapped, and whether a walk has met it. */
struct rmap_place {
	struct sf_space *space;
	uint64_t address, pte;
	bool met;
};

struct rmap_places {
	struct page *page;
	struct rmap_place *place;
	unsigned count;
	unsigned candidates; /* of the walk */
	bool strange;        /* it gave a space that is none of the places' */
};

static inline bool rmap_meet(struct rmap_space *space, uintptr_t address, void *argument)
{
	struct rmap_places *places = argument;
	bool known = false;

	places->candidates++;
	for (unsigned i = 0; i < places->count; i++) {
		struct rmap_place *place = &places->place[i];

		known |= &place->space->rmap == space;
		if (&place->space->rmap == space && place->address == address)
			place->met = true;
	}
	places->strange |= !known;
	return true;
}

/* Walks from places->page, and says which places that met. Returns how many. */
static inline unsigned rmap_walk_places(struct rmap_places *places)
{
	unsigned met = 0;

	for (unsigned i = 0; i < places->count; i++)
		places->place[i].met = false;
	places->candidates = 0;
	places->strange = false;
	page_get(places->page);
	page_lock(places->page);
	rmap_walk(places->page, rmap_meet, places);
	page_unlock(places->page);
	page_put(places->place[0].space->parts.frames, places->page);
	for (unsigned i = 0; i < places->count; i++)
		met += places->place[i].met;
	return met;
}

/* The page that the entry maps, with a reference; NULL: none that is counted. */
static inline struct page *rmap_find(struct sf_space *space, uint64_t address)
{
	struct frames *frames = space->parts.frames;
	struct page *page = NULL;
	struct pte_ref ref;

	port_rcu_read_lock();
	if (pte_lock_existing(&space->table, address, &ref)) {
		if (pte_maps(ref.value) && !(ref.value & PTE_SPECIAL)) {
			page = pfn_to_page(frames, pte_pfn(ref.value));
			page_get(page);
		}
		pte_unlock(&ref);
	}
	port_rcu_read_unlock();
	return page;
}

/* What page_referenced() and try_to_unmap() found for the last page. */
struct rmap_outcome {
	struct rmap_found found;
	enum unmap_result result;
};

/*
 * Puts a page of anonymous memory that the caller has locked, and has a reference on, out of all spaces and
 * of memory. Returns 0; -EAGAIN when something maps it still, or has a reference on it; -ENOSPC; what the
 * write failed with. It is in the cache then, or where it was.
 */
static inline int rmap_put_out_locked(const struct rmap *rmap, struct page *page,
				      struct rmap_outcome *outcome)
{
	struct frames *frames = rmap->frames;
	struct swap *swap = frames->swap;
	struct swap_writer writer;
	struct rmap_batch batch;
	int error = page_has_flag(page, PG_swapcache) ? 0 : swap_add_page(swap, page);

	if (error)
		return error;
	rmap_batch_begin(&batch, rmap);
	outcome->result = try_to_unmap(&batch, page, &outcome->found);
	rmap_batch_flush(&batch);
	if (outcome->result != UNMAP_DONE)
		return -EAGAIN;
	if (page_has_flag(page, PG_dirty)) {
		swap_writer_init(&writer, swap, 1);
		error = swap_writer_add(&writer, page);
		if (!error)
			error = swap_writer_finish(&writer);
	}
	if (error)
		return error;
	if (!swap_remove_clean(swap, page))
		return -EAGAIN;
	page_put(frames, page);
	return 0;
}

/* The same for the page that is mapped at `address`, also -ENOENT and -EBUSY: none, or locked by others. */
static inline int rmap_put_out(const struct rmap *rmap, struct sf_space *space, uint64_t address,
			       struct rmap_outcome *outcome)
{
	struct page *page = rmap_find(space, address);
	int error = -EBUSY;

	if (!page)
		return -ENOENT;
	if (!page_has_flag(page, PG_anonymous)) {
		error = -ENOENT;
	} else if (page_try_flag(page, PG_locked)) {
		if (!page_has_flag(page, PG_writeback))
			error = rmap_put_out_locked(rmap, page, outcome);
		page_unlock(page);
	}
	page_put(space->parts.frames, page);
	return error;
}

#endif
