/* SPDX-License-Identifier: MIT */
/*
 * Taking the entries of a page away, and the flush that many pages have in common.
 */
#include <errno.h>

#include "mm/object/cache.h"
#include "mm/rmap/reverse_map.h"
#include "mm/rmap/walk.h"
#include "mm/swap/swap.h"

void rmap_batch_begin(struct rmap_batch *batch, const struct rmap *rmap)
{
	batch->rmap = rmap;
	batch->tables = batch->pages = 0;
}

void rmap_batch_flush(struct rmap_batch *batch)
{
	for (unsigned i = 0; i < batch->tables; i++) {
		struct rmap_space *space = batch->table[i].space;

		table_flush(space->table, batch->table[i].start, batch->table[i].end);
		if (batch->table[i].changing)
			translations_change_end(&space->table->translations);
		rmap_space_put(space);
	}
	for (unsigned i = 0; i < batch->pages; i++)
		for (uint32_t j = 0; j < batch->page[i].mappings; j++)
			page_put(batch->rmap->frames, batch->page[i].page);
	batch->tables = batch->pages = 0;
}

/* The number of the space's place in the batch, or where it is to come. */
static unsigned table_number(const struct rmap_batch *batch, const struct rmap_space *space)
{
	unsigned i;

	for (i = 0; i < batch->tables && batch->table[i].space != space; i++)
		;
	return i;
}

/* Notes that `address` is about to lose its translation. There is room. In the read section of the change. */
static void add_address(struct rmap_batch *batch, struct rmap_space *space, uintptr_t address)
{
	struct translations *translations = &space->table->translations;
	unsigned i = table_number(batch, space);

	if (i == batch->tables) {
		rmap_space_get(space);
		batch->tables++;
		batch->table[i].space = space;
		batch->table[i].start = address;
		batch->table[i].end = address + PORT_PAGE_SIZE;
		batch->table[i].changing = translations_change_begin(translations);
		return;
	}
	if (address < batch->table[i].start)
		batch->table[i].start = address;
	if (address + PORT_PAGE_SIZE > batch->table[i].end)
		batch->table[i].end = address + PORT_PAGE_SIZE;
	/* A TLB may have been made since the last change. */
	if (!batch->table[i].changing)
		batch->table[i].changing = translations_change_begin(translations);
}

/* The page has lost a mapping, whose reference goes with the batch. There is room. */
static void add_mapping(struct rmap_batch *batch, struct page *page)
{
	unsigned i = batch->pages;

	if (i && batch->page[i - 1].page == page) {
		batch->page[i - 1].mappings++;
		return;
	}
	batch->page[i].page = page;
	batch->page[i].mappings = 1;
	batch->pages++;
}

/* Whether one more mapping of the page can be added. */
static bool has_room(const struct rmap_batch *batch, const struct rmap_space *space, const struct page *page)
{
	return table_number(batch, space) < RMAP_BATCH_TABLES &&
	       (batch->pages < RMAP_BATCH_PAGES || batch->page[batch->pages - 1].page == page);
}

struct unmap {
	struct rmap_batch *batch;
	struct page *page;
	uint64_t pfn;
	struct rmap_found *found;
};

/*
 * Of a page that MADV_FREE has left and an entry that has just been emptied, which said `old`: whether it
 * must be kept all the same. A pin is taken with an entry locked; the page is dirty before a pin for writing
 * ends.
 */
static bool must_keep(const struct unmap *unmap, uint64_t old)
{
	const struct rmap_batch *batch = unmap->batch;
	struct page *page = unmap->page;
	/* The caller's, those of the entries, and those that the batch has of this page. */
	uint32_t known = 1 + page_mapcount(page);

	if (batch->pages && batch->page[batch->pages - 1].page == page)
		known += batch->page[batch->pages - 1].mappings;
	/* Acquire: what a user did before it put its reference is seen. */
	if (atomic_load_explicit(&page->refcount, memory_order_acquire) > known)
		return true;
	if (!(old & PTE_DIRTY) && !page_has_flag(page, PG_dirty))
		return false;
	page_clear_flag(page, PG_lazy_free);
	return true;
}

/* What is to stand in the entries: returns -ENOMEM when the slot can have no more references. */
static int take_replacement(struct unmap *unmap, uint64_t *pte)
{
	struct swap *swap = unmap->batch->rmap->frames->swap;
	struct swap_entry entry;

	*pte = 0;
	if (!page_has_flag(unmap->page, PG_swapcache))
		return 0;
	entry = page_swap_entry(unmap->page);
	*pte = pte_from_swap(entry);
	return swap_dup(swap, entry);
}

/*
 * Replaces the locked entry, and unlocks it. The entry is emptied first and stays locked, so that whoever
 * sees it changed sees what it said of the page.
 */
static void replace(struct unmap *unmap, struct rmap_space *space, struct pte_ref *ref, uint64_t pte)
{
	struct page *page = unmap->page;
	uint64_t old;

	add_address(unmap->batch, space, ref->address);
	old = pte_empty(ref);
	if (page_has_flag(page, PG_anonymous) && !pte && must_keep(unmap, old)) {
		pte_set_unlock(ref, old);
		return;
	}
	if (old & PTE_DIRTY) {
		if (page_has_flag(page, PG_swapcache))
			page_set_dirty(page);
		else if (unmap->batch->rmap->dirty_by_pte)
			object_set_dirty(page);
	}
	page_remove_mapping(page);
	table_count(space->table, TABLE_RESIDENT, -1);
	if (pte)
		table_count(space->table, TABLE_SWAPPED, 1);
	add_mapping(unmap->batch, page);
	pte_set_unlock(ref, pte);
}

/* In a read section. Returns 0; -EPERM or -EAGAIN as may_unmap(), -EBUSY or -ENOENT as the policy's lock. */
static int unmap_entry(struct unmap *unmap, struct rmap_space *space, uintptr_t address)
{
	struct pte_ref ref;
	uint64_t pte;
	int error = unmap->batch->rmap->lock(space->table, address, unmap->pfn, &ref);

	if (error)
		return error;
	unmap->found->visited++;
	error = space->may_unmap(space, address);
	if (!error)
		error = take_replacement(unmap, &pte);
	if (error)
		pte_unlock(&ref);
	else
		replace(unmap, space, &ref, pte);
	return error;
}

static bool try_to_unmap_one(struct rmap_space *space, uintptr_t address, void *argument)
{
	struct unmap *unmap = argument;
	struct rmap_batch *batch = unmap->batch;
	int error;

	unmap->found->candidates++;
	if (!has_room(batch, space, unmap->page))
		rmap_batch_flush(batch);
	port_rcu_read_lock();
	error = unmap_entry(unmap, space, address);
	port_rcu_read_unlock();
	unmap->found->skipped += error == -EBUSY || error == -EAGAIN;
	unmap->found->locked |= error == -EPERM;
	return page_mapcount(unmap->page) != 0;
}

enum unmap_result try_to_unmap(struct rmap_batch *batch, struct page *page, struct rmap_found *found)
{
	struct unmap unmap = {
	    .batch = batch,
	    .page = page,
	    .pfn = page_to_pfn(batch->rmap->frames, page),
	    .found = found,
	};

	*found = (struct rmap_found){0};
	invariant(!page_has_flag(page, PG_anonymous) || page_has_flag(page, PG_swapcache) ||
		  page_has_flag(page, PG_lazy_free));
	if (page_mapcount(page))
		rmap_walk(page, try_to_unmap_one, &unmap);
	if (!page_mapcount(page))
		return UNMAP_DONE;
	return found->locked ? UNMAP_LOCKED : UNMAP_AGAIN;
}
