/* SPDX-License-Identifier: MIT */
#include "mm/page/buddy.h"

void buddy_init(struct buddy *buddy, uint64_t first, uint64_t end)
{
	for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
		list_init(&buddy->area[order].blocks);
		buddy->area[order].count = 0;
	}
	buddy->first = first;
	buddy->fresh = first;
	buddy->end = end;
}

static void add_block(struct buddy *buddy, struct page *page, unsigned order)
{
	struct free_area *area = &buddy->area[order];

	atomic_store_explicit(&page->mapcount, PAGE_BUDDY + order, memory_order_relaxed);
	list_add(&area->blocks, &page->list);
	area->count++;
}

static void remove_block(struct buddy *buddy, struct page *page, unsigned order)
{
	list_remove(&page->list);
	atomic_store_explicit(&page->mapcount, 0, memory_order_relaxed);
	buddy->area[order].count--;
}

/* Makes a block of the frames from the bump pointer on: the largest that its number and the end allow. */
static bool add_fresh_block(struct frames *frames, struct buddy *buddy)
{
	unsigned order = 0;

	if (buddy->fresh == buddy->end)
		return false;
	while (order < BUDDY_ORDERS - 1 && buddy->fresh % (UINT64_C(2) << order) == 0 &&
	       buddy->end - buddy->fresh >= UINT64_C(2) << order)
		order++;
	add_block(buddy, pfn_to_page(frames, buddy->fresh), order);
	buddy->fresh += UINT64_C(1) << order;
	return true;
}

/* Gives the upper halves of a block back until only its first frame is left. */
static void expand(struct buddy *buddy, struct page *page, unsigned order)
{
	while (order > 0) {
		order--;
		add_block(buddy, page + (UINT64_C(1) << order), order);
	}
}

struct page *buddy_take(struct frames *frames, struct buddy *buddy)
{
	do {
		for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
			struct list *blocks = &buddy->area[order].blocks;
			struct page *page;

			if (list_empty(blocks))
				continue;
			page = container_of(blocks->next, struct page, list);
			remove_block(buddy, page, order);
			expand(buddy, page, order);
			return page;
		}
	} while (add_fresh_block(frames, buddy));
	return NULL;
}

void buddy_give(struct frames *frames, struct buddy *buddy, struct page *page)
{
	uint64_t pfn = page_to_pfn(frames, page);
	unsigned order;

	for (order = 0; order < BUDDY_ORDERS - 1; order++) {
		uint64_t other = pfn ^ UINT64_C(1) << order;

		if (other < buddy->first || other >= buddy->fresh ||
		    page_mapcount(pfn_to_page(frames, other)) != PAGE_BUDDY + order)
			break;
		remove_block(buddy, pfn_to_page(frames, other), order);
		pfn &= ~(UINT64_C(1) << order);
	}
	add_block(buddy, pfn_to_page(frames, pfn), order);
}
