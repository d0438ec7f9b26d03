/* SPDX-License-Identifier: MIT */
/*
 * Swapping pages of shared memory in. The slot of a tag has one reference, the index's, since an object is
 * one however many spaces map it. So who has the slot's page locked and changes the tag to it has all there
 * is: the slot is free again, and the page, which is nowhere else now, is written once more when it leaves.
 *
 * The tag stands until it is changed in one step. So who cuts the object meets either the tag, and takes it
 * out, or the page, and waits until it is unlocked: the size need not be looked at again.
 */
#include <errno.h>

#include "mm/object/shmem.h"
#include "mm/page/page_wait.h"
#include "mm/swap/swap.h"
#include "sync/rcu.h"

/* Makes a locked page of the swap cache one of the object's, which nobody can see yet; or takes that back. */
static void make_cached(struct sf_object *object, struct page *page, uint64_t index)
{
	page->object = object;
	page->index = index;
	page_set_flag(page, PG_cached);
	frames_count(object->objects->frames, FRAMES_SHARED, 1);
}

static void unmake_cached(struct sf_object *object, struct page *page)
{
	page_clear_flag(page, PG_cached);
	frames_count(object->objects->frames, FRAMES_SHARED, -1);
}

/* Of a page that is locked. */
static bool is_page_of_slot(const struct page *page, struct swap_entry slot)
{
	return page_has_flag(page, PG_swapcache) && page_swap_entry(page).value == slot.value;
}

/* Takes the page out of the cache; its reference is the index's from now on, or is put. */
static void leave_cache(struct swap *swap, struct page *page)
{
	bool taken = swap_take_page(swap, page);

	invariant(taken);
}

static bool change_tag(struct sf_object *object, uint64_t index, uintptr_t tag, struct page *page)
{
	bool changed;

	port_rcu_read_lock();
	changed = object->index.ops->replace(&object->index, index, tag, index_entry_of_page(page));
	port_rcu_read_unlock();
	return changed;
}

int shmem_swap_in(struct sf_object *object, uint64_t index, uintptr_t tag, struct charge *charge)
{
	struct swap_entry slot = index_entry_swap(tag);
	struct frames *frames = object->objects->frames;
	struct swap *swap = frames->swap;
	struct page *page;
	int error = swap_in(swap, slot, charge, &page);

	if (error)
		return error == -ENOENT ? 0 : error;
	page_lock(page);
	if (is_page_of_slot(page, slot)) {
		make_cached(object, page, index);
		if (change_tag(object, index, tag, page)) {
			swap_put(swap, slot);
			leave_cache(swap, page);
		} else {
			unmake_cached(object, page);
			/* Who took the tag away could not take the page. */
			if (swap_take_page(swap, page))
				page_put(frames, page);
		}
	}
	page_unlock(page);
	page_put(frames, page);
	return 0;
}
