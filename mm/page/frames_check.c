/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the frame allocator while nothing runs.
 */
#include "mm/page/frames.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/page/magazine.h"

/* Counts a chain that should have `count` pages, all free; adds them to *total. */
static int check_chain(struct frames *frames, struct page *page, uint64_t count, uint64_t *total,
		       struct message *why)
{
	uint64_t seen = 0;

	for (; page; page = page->free.next) {
		uint64_t pfn = page_to_pfn(frames, page);

		if (++seen > count)
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": its magazine has more than the %" PRIu64
					   " pages that it counts",
					   pfn, count);
		if (pfn >= frames->own)
			return message_set(why, -EINVAL, "frame %" PRIu64 ": exported, but in the allocator",
					   pfn);
		if (!page_has_flag(page, PG_free) || atomic_load(&page->refcount))
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": in the allocator with flags %#" PRIx64
					   " and refcount %" PRIu32,
					   pfn, atomic_load(&page->flags), atomic_load(&page->refcount));
	}
	if (seen != count)
		return message_set(why, -EINVAL, "a magazine counts %" PRIu64 " pages and has %" PRIu64,
				   count, seen);
	*total += seen;
	return 0;
}

static int check_depot(struct frames *frames, struct frame_depot *depot, uint64_t *total, struct message *why)
{
	uint64_t magazines = 0;

	for (struct page *page = depot->magazines; page; page = page->free.next_magazine) {
		int error = check_chain(frames, page, page->free.count, total, why);

		if (error)
			return error;
		if (++magazines > depot->magazine_count)
			break;
	}
	if (magazines != depot->magazine_count)
		return message_set(why, -EINVAL,
				   "the depot of frame %" PRIu64 " counts %" PRIu64 " magazines and has %s",
				   depot->first, depot->magazine_count,
				   magazines > depot->magazine_count ? "more" : "fewer");
	return 0;
}

int frames_check(struct frames *frames, uint64_t in_use, struct message *why)
{
	uint64_t listed = 0, free = 0, used = 0, fresh = 0, bumped = 0;
	int error = 0;

	for (unsigned i = 0; i < port_cpu_count() && !error; i++) {
		struct frame_cpu *cpu = percpu_of(&frames->cpu, i);

		error = check_chain(frames, cpu->loaded, cpu->loaded_count, &listed, why);
		if (!error)
			error = check_chain(frames, cpu->spare, cpu->spare_count, &listed, why);
		fresh += cpu->fresh_end - cpu->fresh;
	}
	for (unsigned node = 0; node < frames->nodes && !error; node++)
		error = check_depot(frames, frames->depot[node], &listed, why);
	if (error)
		return error;

	for (unsigned node = 0; node < frames->nodes; node++) {
		bumped += frames->depot[node]->fresh - frames->depot[node]->first;
		for (uint64_t pfn = frames->depot[node]->first; pfn < frames->depot[node]->fresh; pfn++) {
			struct page *page = pfn_to_page(frames, pfn);

			if (page_has_flag(page, PG_free))
				free++;
			else if (atomic_load(&page->refcount))
				used++;
		}
	}
	if (free != listed)
		return message_set(why, -EINVAL,
				   "%" PRIu64 " frames say that they are free, the allocator has %" PRIu64,
				   free, listed);
	if (used != in_use)
		return message_set(why, -EINVAL, "%" PRIu64 " frames have users, %" PRIu64 " should", used,
				   in_use);
	if (free + used + fresh != bumped)
		return message_set(why, -EINVAL,
				   "of %" PRIu64 " frames handed out once, %" PRIu64 " are free, %" PRIu64
				   " used and %" PRIu64 " in a CPU's reserve",
				   bumped, free, used, fresh);
	return 0;
}
