/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the frame cache `magazine` while nothing runs.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/page/magazine.h"
#include "mm/page/magazine_parts.h"

/* Counts a chain that should have `count` pages, all free. */
static int check_chain(struct frames *frames, struct page *page, uint64_t count, struct frame_census *census,
		       struct message *why)
{
	uint64_t seen = 0;

	for (; page; page = page->magazine.next) {
		uint64_t pfn = page_to_pfn(frames, page);

		if (++seen > count)
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": its magazine has more than the %" PRIu64
					   " pages that it counts",
					   pfn, count);
		if (pfn == ZERO_PFN || pfn >= frames->own)
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": none of the allocator's, but in a magazine",
					   pfn);
		if (!page_has_flag(page, PG_free) || page_refcount(page))
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": in a magazine with flags %#" PRIx32
					   " and refcount %" PRIu32,
					   pfn, atomic_load(&page->flags), page_refcount(page));
	}
	if (seen != count)
		return message_set(why, -EINVAL, "a magazine counts %" PRIu64 " pages and has %" PRIu64,
				   count, seen);
	census->returned += seen;
	census->free += seen;
	return 0;
}

static int check_magazines(struct frames *frames, struct page *magazines, uint64_t count, const char *place,
			   unsigned number, struct frame_census *census, struct message *why)
{
	uint64_t seen = 0;

	for (struct page *page = magazines; page; page = page->magazine.next_magazine) {
		int error = check_chain(frames, page, page->magazine.count, census, why);

		if (error)
			return error;
		if (++seen > count)
			break;
	}
	if (seen != count)
		return message_set(why, -EINVAL, "the %s %u counts %" PRIu64 " magazines and has %s", place,
				   number, count, seen > count ? "more" : "fewer");
	return 0;
}

static int check_cpu(struct frames *frames, unsigned number, struct frame_census *census, struct message *why)
{
	const struct magazines *cache = frames->cache;
	struct frame_cpu *cpu = percpu_of(&cache->cpu, number);
	struct frame_shelf *shelf = percpu_of(&cache->shelf, number);
	uint64_t fresh = atomic_load(&shelf->fresh);
	int error = check_chain(frames, cpu->loaded, cpu->loaded_count, census, why);

	if (!error)
		error = check_chain(frames, cpu->spare, cpu->spare_count, census, why);
	if (!error)
		error = check_chain(frames, cpu->away, cpu->away_count, census, why);
	if (!error)
		error = check_magazines(frames, shelf->magazines, atomic_load(&shelf->magazine_count),
					"shelf of CPU", number, census, why);
	census->free += cpu->fresh_end - cpu->fresh + (fresh ? shelf->fresh_end - fresh : 0);
	return error;
}

uint64_t magazines_untouched(struct frames *frames, unsigned node)
{
	const struct magazines *cache = frames->cache;
	const struct frame_depot *depot = cache->depot[node];
	uint64_t fresh = atomic_load(&depot->fresh);

	return fresh < depot->end ? fresh : depot->end;
}

int magazines_check(struct frames *frames, struct frame_census *census, struct message *why)
{
	const struct magazines *cache = frames->cache;
	int error = 0;

	for (unsigned i = 0; i < port_cpu_count() && !error; i++)
		error = check_cpu(frames, i, census, why);
	for (unsigned node = 0; node < frames->nodes && !error; node++) {
		struct frame_depot *depot = cache->depot[node];

		census->free += depot->end - magazines_untouched(frames, node);
		error = check_magazines(frames, depot->magazines, atomic_load(&depot->magazine_count),
					"depot of node", node, census, why);
	}
	return error;
}
