/* SPDX-License-Identifier: MIT */
/*
 * Swapping out by hand, for tests of what meets it: page by page, through the entry of one space. No reverse
 * map and no lists: a page that another space maps too leaves memory when it has been put out there as well.
 * The steps and their order are those of docs/RECLAIM.md, "Unmapping a page".
 */
#ifndef TESTS_COMMON_SWAP_OUT_H
#define TESTS_COMMON_SWAP_OUT_H

#include <errno.h>

#include "mm/page/page_wait.h"
#include "mm/space/space.h"
#include "mm/swap/swap.h"
#include "mm/table/table.h"
#include "port/rcu.h"

/* The anonymous page that the entry maps, with a reference; NULL: none. */
static inline struct page *swap_out_find(struct sf_space *space, uintptr_t address)
{
	struct frames *frames = space->parts.frames;
	struct page *page = NULL;
	struct pte_ref ref;

	port_rcu_read_lock();
	if (pte_lock_existing(&space->table, address, &ref)) {
		if (pte_maps(ref.value) && !(ref.value & PTE_SPECIAL))
			page = pfn_to_page(frames, pte_pfn(ref.value));
		if (page && !page_has_flag(page, PG_anonymous))
			page = NULL;
		if (page)
			page_get(page);
		pte_unlock(&ref);
	}
	port_rcu_read_unlock();
	return page;
}

/* Lets the entry name the slot of its page, which is locked and in the cache. Returns whether it did. */
static inline bool swap_out_unmap(struct sf_space *space, uintptr_t address, struct page *page)
{
	struct table *table = &space->table;
	struct frames *frames = space->parts.frames;
	struct swap_entry entry = page_swap_entry(page);
	bool changing, done = false;
	struct pte_ref ref;

	port_rcu_read_lock();
	changing = translations_change_begin(&table->translations);
	if (pte_lock_existing(table, address, &ref)) {
		done = pte_maps(ref.value) && !(ref.value & PTE_SPECIAL) &&
		       pte_pfn(ref.value) == page_to_pfn(frames, page) && !swap_dup(frames->swap, entry);
		if (done) {
			page_remove_mapping(page);
			pte_set_unlock(&ref, pte_from_swap(entry));
			table_count(table, TABLE_RESIDENT, -1);
			table_count(table, TABLE_SWAPPED, 1);
		} else {
			pte_unlock(&ref);
		}
	}
	port_rcu_read_unlock();
	if (done)
		table_flush(table, address, address + PORT_PAGE_SIZE);
	if (changing)
		translations_change_end(&table->translations);
	if (done)
		page_put(frames, page);
	return done;
}

/* Writes the page if need be, and takes it away, or leaves it in the cache with `keep`. 0, or an error. */
static inline int swap_out_write(struct swap *swap, struct frames *frames, struct page *page, bool keep)
{
	struct swap_writer writer;
	int error = 0;

	if (page_has_flag(page, PG_dirty)) {
		swap_writer_init(&writer, swap, 1);
		error = swap_writer_add(&writer, page);
		if (!error)
			error = swap_writer_finish(&writer);
	}
	if (!error && !keep && swap_remove_clean(swap, page))
		page_put(frames, page);
	return error;
}

/*
 * Puts the page at `address` out; with `keep` it stays in the cache. Returns 0; -ENOENT when no page of
 * anonymous memory is there; -EBUSY when it is at work elsewhere; -ENOSPC; what the write failed with: then
 * it is in the cache.
 */
static inline int swap_out(struct sf_space *space, uint64_t address, bool keep)
{
	struct frames *frames = space->parts.frames;
	struct page *page = swap_out_find(space, address);
	int error = -EBUSY;

	if (!page)
		return -ENOENT;
	if (page_try_flag(page, PG_locked)) {
		error = page_has_flag(page, PG_writeback)   ? -EBUSY
			: page_has_flag(page, PG_swapcache) ? 0
							    : swap_add_page(frames->swap, page);
		if (!error && !swap_out_unmap(space, address, page))
			error = -EBUSY;
		if (!error && !page_mapcount(page))
			error = swap_out_write(frames->swap, frames, page, keep);
		page_unlock(page);
	}
	page_put(frames, page);
	return error;
}

#endif
