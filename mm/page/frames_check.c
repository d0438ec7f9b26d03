/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the frame allocator while nothing runs, whatever the frame cache.
 */
#include "mm/page/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mm/page/frame_cache.h"

/* What the pages themselves say. */
struct frame_states {
	uint64_t used, returned;
};

struct frame_check {
	struct frames *frames;
	struct frame_states states;
	struct message *why;
};

int frames_for_each(struct frames *frames, int (*visit)(void *argument, struct page *page), void *argument)
{
	int result = 0;

	for (unsigned node = 0; node < frames->nodes && !result; node++)
		for (uint64_t pfn = frame_node_first(frames, node),
			      end = frames->ops->untouched(frames, node);
		     pfn < end && !result; pfn++)
			result = visit(argument, pfn_to_page(frames, pfn));
	return result;
}

static int check_page(void *argument, struct page *page)
{
	struct frame_check *check = argument;
	struct frame_states *states = &check->states;
	struct message *why = check->why;
	uint64_t pfn = page_to_pfn(check->frames, page);
	uint32_t refcount = page_refcount(page), mapcount = page_mapcount(page);
	bool free = page_has_flag(page, PG_free);

	states->used += refcount != 0;
	states->returned += free;
	if (free && (refcount || page->group))
		return message_set(why, -EINVAL, "frame %" PRIu64 ": free, with %" PRIu32 " users or charged",
				   pfn, refcount);
	if (mapcount && !(mapcount & PAGE_BUDDY) && mapcount > refcount)
		return message_set(why, -EINVAL,
				   "frame %" PRIu64 ": %" PRIu32 " mappings, but %" PRIu32 " references", pfn,
				   mapcount, refcount);
	if ((mapcount & PAGE_BUDDY) && refcount)
		return message_set(why, -EINVAL, "frame %" PRIu64 ": in a free block, with %" PRIu32 " users",
				   pfn, refcount);
	return 0;
}

static int check_zero_page(struct frames *frames, struct message *why)
{
	struct page *page = zero_page(frames);
	const char *contents = page_address(frames, page);
	size_t byte = 0;

	if (page_refcount(page) != 1 || page_mapcount(page) || !page_has_flag(page, PG_zero))
		return message_set(why, -EINVAL,
				   "the zero page: %" PRIu32 " references instead of 1, %" PRIu32
				   " mappings instead of 0, or no flag",
				   page_refcount(page), page_mapcount(page));
	if (frames->structure_only || (!*contents && !memcmp(contents, contents + 1, PORT_PAGE_SIZE - 1)))
		return 0;
	while (!contents[byte])
		byte++;
	return message_set(why, -EINVAL, "the zero page: byte %zu is not zero", byte);
}

int frames_check(struct frames *frames, uint64_t in_use, struct message *why)
{
	struct frame_census census = {0};
	struct frame_check check = {.frames = frames, .why = why};
	const struct frame_states *states = &check.states;
	uint64_t all = frames->own - 1;
	int error = check_zero_page(frames, why);

	if (!error)
		error = frames->ops->check(frames, &census, why);
	if (!error)
		error = frames_for_each(frames, check_page, &check);
	if (error)
		return error;
	if (states->returned != census.returned)
		return message_set(why, -EINVAL,
				   "%" PRIu64 " frames say that they are free, the allocator has %" PRIu64,
				   states->returned, census.returned);
	if (states->used != in_use)
		return message_set(why, -EINVAL, "%" PRIu64 " frames have users, %" PRIu64 " should",
				   states->used, in_use);
	if (census.free + in_use != all)
		return message_set(why, -EINVAL,
				   "of %" PRIu64 " frames %" PRIu64
				   " are used, and the allocator has %" PRIu64,
				   all, in_use, census.free);
	if (frames_free_count(frames) != census.free)
		return message_set(why, -EINVAL,
				   "by the counters %" PRIu64 " frames are free, the allocator has %" PRIu64,
				   frames_free_count(frames), census.free);
	return 0;
}
