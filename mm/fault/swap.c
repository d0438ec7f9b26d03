/* SPDX-License-Identifier: MIT */
/*
 * A touch of private memory that is in swap.
 *
 * What a page's slot and its place in the cache say is settled by PG_locked, what the entry says by its lock.
 * A fault that has both, and finds that the page is that of the slot and the entry names the slot, maps the
 * page: reclaim, which could take it out of the cache, has neither. Whatever has to be waited for is waited
 * for with nothing held but a reference on the page, which keeps it in memory until the fault has mapped it.
 */
#include <errno.h>

#include "mm/fault/internal.h"
#include "mm/page/page_wait.h"
#include "mm/rmap/anon.h"
#include "mm/swap/swap.h"

void fault_keep(struct fault *fault, struct page *page)
{
	if (fault->kept)
		page_put(fault->space->parts.frames, fault->kept);
	fault->kept = page;
}

int fault_wait_for_page(struct fault *fault, struct page *page, enum page_flag flag)
{
	fault_keep(fault, page);
	fault->kept_flag = flag;
	return -EINPROGRESS;
}

int fault_wait_for_slot(struct fault *fault)
{
	struct page *page;
	int error;

	if (fault->kept_flag) {
		page_wait_flag(fault->kept, fault->kept_flag);
		fault->kept_flag = 0;
		return 0;
	}
	fault->swap_in = false;
	error = swap_in(fault->space->parts.frames->swap, pte_swap_entry(fault->pte), &fault->charge, &page);
	if (!error)
		fault_keep(fault, page);
	fault->major = true;
	/* The entry has changed. */
	if (error == -ENOENT)
		return 0;
	return error && error != -ENOMEM ? fault_sigbus(fault) : error;
}

/* The page is locked. A slot that no entry names any more can be given to another page. */
static bool page_is_of(const struct page *page, struct swap_entry entry)
{
	return page_has_flag(page, PG_swapcache) && page_swap_entry(page).value == entry.value;
}

/*
 * The slot, whose page is locked, is named by no entry any more: takes the page out of the cache if it is to
 * be written to, or slots are scarce. The caller has a reference on it.
 */
static void leave_cache(struct fault *fault, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;

	if (fault->touch != TOUCH_WRITE && !swap_is_scarce(frames->swap))
		return;
	/* Also one that is not anonymous memory's yet: its contents are nowhere else from here on. */
	if (swap_take_page(frames->swap, page)) {
		page_set_flag(page, PG_dirty);
		page_put(frames, page);
	}
}

/*
 * Maps the page, which is locked and the slot's, in the locked entry; unlocks both. The reference is the
 * mapping's then.
 */
static void map_page(struct fault *fault, struct pte_ref *ref, struct page *page, struct swap_entry entry)
{
	struct frames *frames = fault->space->parts.frames;
	struct table *table = &fault->space->table;
	const struct vma *vma = fault->vma;
	bool last = swap_put(frames->swap, entry), writable;

	if (last)
		leave_cache(fault, page);
	anon_map_swapped(frames, page, vma_anon(vma), vma_page_index(vma, fault->address),
			 last && !page_mapcount(page));
	page_add_mapping(page);
	page_unlock(page);
	/* Not by the cache's reference, either. */
	writable = fault->touch == TOUCH_WRITE && page_is_exclusive(page);
	pte_set_unlock(ref, pte_make_page(page_to_pfn(frames, page), writable, fault_executable(fault)));
	table_count(table, TABLE_SWAPPED, -1);
	table_count(table, TABLE_RESIDENT, 1);
}

int do_swap_page(struct fault *fault)
{
	struct swap_entry entry = pte_swap_entry(fault->pte);
	struct page *page = swap_find(fault->space->parts.frames->swap, entry);
	struct pte_ref ref;
	int error;

	fault_keep(fault, page);
	if (!page || !page_is_uptodate(page)) {
		fault->swap_in = true;
		return -EINPROGRESS;
	}
	if (!page_try_flag(page, PG_locked)) {
		fault->kept_flag = PG_locked;
		return -EINPROGRESS;
	}
	/* Else the entry has changed, or the page has been taken away and has to be found anew. */
	error = page_is_of(page, entry) ? fault_lock_pte(fault, &ref) : -EBUSY;
	if (error) {
		page_unlock(page);
		swap_free_unused(fault->space->parts.frames->swap, page);
		return fault_race(error);
	}
	fault->kept = NULL;
	map_page(fault, &ref, page, entry);
	return 0;
}

bool fault_leave_cache(struct fault *fault, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;
	bool wait = false;

	if (!page_has_flag(page, PG_swapcache) || page_mapcount(page) != 1 || !page_try_flag(page, PG_locked))
		return true;
	if (page_has_flag(page, PG_swapcache)) {
		wait = page_has_flag(page, PG_writeback);
		if (!wait && swap_take_page(frames->swap, page))
			page_put(frames, page);
	}
	page_unlock(page);
	return !wait;
}
