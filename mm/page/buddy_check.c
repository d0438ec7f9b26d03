/* SPDX-License-Identifier: MIT */
/*
 * What must hold of a buddy allocator while nothing runs.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/page/buddy.h"

/* A free block of `order` at `page`, which is in the list of that order. */
static int check_block(struct frames *frames, const struct buddy *buddy, struct page *page, unsigned order,
		       uint64_t *returned, struct message *why)
{
	uint64_t pfn = page_to_pfn(frames, page), pages = UINT64_C(1) << order, other = pfn ^ pages;

	if (page_mapcount(page) != PAGE_BUDDY + order || pfn % pages)
		return message_set(why, -EINVAL,
				   "frame %" PRIu64 ": in the list of order %u, with mapcount %#" PRIx32, pfn,
				   order, page_mapcount(page));
	if (pfn < buddy->first || pfn + pages > buddy->fresh)
		return message_set(why, -EINVAL,
				   "frame %" PRIu64 ": a block of order %u, outside [%" PRIu64 ", %" PRIu64
				   ")",
				   pfn, order, buddy->first, buddy->fresh);
	if (order < BUDDY_ORDERS - 1 && other >= buddy->first && other < buddy->fresh &&
	    page_mapcount(pfn_to_page(frames, other)) == PAGE_BUDDY + order)
		return message_set(why, -EINVAL,
				   "frames %" PRIu64 " and %" PRIu64 ": free buddies of order %u, not joined",
				   pfn, other, order);
	for (uint64_t i = 0; i < pages; i++) {
		if (page_refcount(page + i) || (i && page_mapcount(page + i)))
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": inside a free block, with %" PRIu32
					   " users and mapcount %#" PRIx32,
					   pfn + i, page_refcount(page + i), page_mapcount(page + i));
		*returned += page_has_flag(page + i, PG_free);
	}
	return 0;
}

int buddy_check(struct frames *frames, const struct buddy *buddy, uint64_t *free, uint64_t *returned,
		struct message *why)
{
	for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
		const struct free_area *area = &buddy->area[order];
		uint64_t seen = 0;
		int error = 0;

		for (struct list *link = area->blocks.next;
		     link != &area->blocks && seen <= area->count && !error; link = link->next, seen++)
			error = check_block(frames, buddy, container_of(link, struct page, list), order,
					    returned, why);
		if (error)
			return error;
		if (seen != area->count)
			return message_set(why, -EINVAL, "order %u counts %" PRIu64 " free blocks and has %s",
					   order, area->count, seen > area->count ? "more" : "fewer");
		*free += seen << order;
	}
	*free += buddy->end - buddy->fresh;
	return 0;
}
