/* SPDX-License-Identifier: MIT */
/*
 * Why no use of a page is missed. Who wants to map it has a reference, locks the entry, and then looks at
 * PG_removed; here that is set first, then the entries are visited, then the references are counted: it is
 * seen as a user, or sees the mark (docs/LOCKING.md, "A page that reclaim takes"). Who only reads by offset
 * may have found it at any time, and reads what was there when it found it. Who writes by offset or cuts
 * holds the object's lock, who writes back has the page PG_writeback and a reference.
 */
#include "mm/object/evict.h"

#include "mm/charge/workingset.h"
#include "mm/page/page_wait.h"
#include "sync/rcu.h"

void object_evict_init(struct evict_batch *batch, struct objects *objects)
{
	batch->frames = objects->frames;
	batch->count = batch->left = 0;
}

/* Whether the batch has the object's lock, or can get it; then it has a reference as well. In a read section.
 */
static bool hold_object(struct evict_batch *batch, struct sf_object *object)
{
	for (unsigned i = batch->count; i > 0; i--)
		if (batch->object[i - 1] == object)
			return true;
	if (!down_read_trylock(&object->lock))
		return false;
	if (!refcount_inc_not_zero(&object->object.references)) {
		up_read(&object->lock);
		return false;
	}
	batch->object[batch->count++] = object;
	return true;
}

/* The index's reference, reclaim's, and the mappings'. */
static bool has_other_users(const struct page *page)
{
	return page_refcount(page) > 2 + page_mapcount(page);
}

enum evict object_evict_begin(struct evict_batch *batch, struct page *page)
{
	uint32_t flags = atomic_load_explicit(&page->flags, memory_order_acquire);
	enum evict result = EVICT_KEPT;

	invariant((flags & PG_locked) && batch->count < EVICT_PAGES);
	if (!(flags & PG_cached) || (flags & (PG_removed | PG_writeback)))
		return EVICT_KEPT;
	if ((flags & PG_file) && (flags & PG_dirty))
		return EVICT_DIRTY;
	if (!(flags & PG_file) && !batch->frames->swap)
		return EVICT_FULL;
	port_rcu_read_lock();
	/* In a read section: if it is not set, the object is there. */
	if (!page_has_flag(page, PG_removed) && !has_other_users(page) && hold_object(batch, page->object)) {
		atomic_fetch_or_explicit(&page->flags, PG_removed, memory_order_seq_cst);
		atomic_thread_fence(memory_order_seq_cst);
		result = EVICT_GO;
	}
	port_rcu_read_unlock();
	return result;
}

/* Not mapped, and nobody has a reference but those of reclaim, the index, and if so the swap cache. */
static bool is_unused(const struct page *page)
{
	uint32_t expected = page_has_flag(page, PG_swapcache) ? 3 : 2;

	/* Acquire: all accesses of the page come before. */
	return !page_mapcount(page) &&
	       atomic_load_explicit(&page->refcount, memory_order_acquire) == expected;
}

enum evict object_evict_write(struct page *page, struct swap_writer *writer)
{
	if (page_has_flag(page, PG_file) || !is_unused(page))
		return EVICT_GO;
	if (swap_add_page(writer->swap, page))
		return EVICT_FULL;
	/* A slot that cannot be written is not given out; if this fails all the same, the page is dirty
	 * still. */
	swap_writer_add(writer, page);
	return EVICT_GO;
}

/* It stays the object's. */
static enum evict keep(struct page *page, enum evict result)
{
	atomic_fetch_and_explicit(&page->flags, ~(uint32_t)PG_removed, memory_order_release);
	page_unlock(page);
	return result;
}

static enum evict take_out(struct evict_batch *batch, struct page *page, uintptr_t tag)
{
	bool removed;

	port_rcu_read_lock();
	removed = page->object->index.ops->replace(&page->object->index, page->index,
						   index_entry_of_page(page), tag);
	port_rcu_read_unlock();
	/* Nobody else could have. */
	invariant(removed);
	batch->leaving[batch->left++] = page;
	page_unlock(page);
	return EVICT_COMING;
}

/*
 * The users first: a mapping that was there can make the page dirty as long as it is, and who ends it does so
 * before it puts its reference. When none is left, nobody makes the page dirty but a write-back that fails,
 * which has it PG_writeback until then.
 */
static enum evict end_file(struct evict_batch *batch, struct page *page)
{
	bool unused = is_unused(page);
	uint32_t flags = atomic_load_explicit(&page->flags, memory_order_acquire);

	/* An unmapping can have found it dirty. */
	if ((flags & PG_dirty) && !(flags & PG_writeback) && !page_mapcount(page))
		return keep(page, EVICT_DIRTY);
	if ((flags & (PG_dirty | PG_writeback)) || !unused)
		return keep(page, EVICT_KEPT);
	return take_out(batch, page, index_entry_of_shadow(workingset_evict(page)));
}

/* The slot gets the index's reference before the page leaves the cache: so it is never free in between. */
static enum evict end_shared(struct evict_batch *batch, struct page *page)
{
	struct frames *frames = batch->frames;
	struct swap_entry slot = page_swap_entry(page);
	uint32_t flags = atomic_load_explicit(&page->flags, memory_order_acquire);
	bool taken;

	if (!(flags & PG_swapcache))
		return keep(page, page_mapcount(page) || has_other_users(page) ? EVICT_KEPT : EVICT_FULL);
	if (!(flags & PG_dirty) && is_unused(page) && !swap_dup(frames->swap, slot)) {
		workingset_evict(page);
		swap_uninsert(frames->swap, page);
		page_put(frames, page);
		return take_out(batch, page, index_entry_of_swap(slot));
	}
	taken = swap_take_page(frames->swap, page);
	invariant(taken);
	page_put(frames, page);
	return keep(page, EVICT_KEPT);
}

enum evict object_evict_end(struct evict_batch *batch, struct page *page)
{
	return page_has_flag(page, PG_file) ? end_file(batch, page) : end_shared(batch, page);
}

void object_evict_finish(struct evict_batch *batch)
{
	for (unsigned i = 0; i < batch->count; i++)
		up_read(&batch->object[i]->lock);
	for (unsigned i = 0; i < batch->count; i++)
		object_put(&batch->object[i]->object);
	batch->count = 0;
}
