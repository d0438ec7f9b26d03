/* SPDX-License-Identifier: MIT */
/*
 * The first touch of a page of private anonymous memory: a read is given the zero page, a write a page of its
 * own.
 */
#include <errno.h>

#include "mm/fault/internal.h"
#include "port/page.h"

struct page *alloc_anonymous_page(struct fault *fault)
{
	struct frames *frames = fault->space->parts.frames;
	struct page *page = charged_page_alloc(frames, &fault->charge);

	if (page)
		page_set_anonymous(frames, page, anon_vma_home(vma_anon(fault->vma)),
				   vma_page_index(fault->vma, fault->address));
	return page;
}

static void clear_page(struct frames *frames, struct page *page)
{
	port_page_clear(page_address(frames, page), frames->structure_only);
}

struct page *alloc_zeroed_page(struct fault *fault)
{
	struct page *page = alloc_anonymous_page(fault);

	if (page)
		clear_page(fault->space->parts.frames, page);
	return page;
}

void free_new_page(struct fault *fault, struct page *page)
{
	page_put(fault->space->parts.frames, page);
}

void install_anonymous_page(struct fault *fault, struct pte_ref *ref, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;
	uint64_t pfn = page_to_pfn(frames, page);

	page_add_mapping(page);
	/* Who sees the entry can release the page, and looks for it on the list. */
	lru_add(frames->lru, page, LRU_ACTIVE);
	pte_set_unlock(ref, pte_make_page(pfn, true, fault_executable(fault)));
}

static int map_zero_page(struct fault *fault)
{
	struct pte_ref ref;
	int error = fault_lock_pte(fault, &ref);

	if (error)
		return fault_race(error);
	pte_set_unlock(&ref, pte_make_zero(fault_executable(fault)));
	fault->events |= FAULT_ZERO_PAGE;
	return 0;
}

int do_anonymous_page(struct fault *fault)
{
	struct page *page;
	struct pte_ref ref;
	int error;

	if (fault->touch != TOUCH_WRITE)
		return map_zero_page(fault);
	page = alloc_zeroed_page(fault);
	if (!page)
		return -ENOMEM;
	error = fault_lock_pte(fault, &ref);
	if (error) {
		free_new_page(fault, page);
		return fault_race(error);
	}
	install_anonymous_page(fault, &ref, page);
	table_count(&fault->space->table, TABLE_RESIDENT, 1);
	return 0;
}
