/* SPDX-License-Identifier: MIT */
/*
 * A frame cache that puts a full magazine on the CPU's shelf, or into the depot if the shelf has one already.
 * It looks twice whether the shelf has one; if another CPU takes that in between, the magazine goes to both
 * places, and its frames are handed out twice.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/page/frame_cache.h"
#include "mm/page/magazine.h"
#include "mm/page/magazine_parts.h"
#include "tests/explore/fixture.h"

#define FRAMES 9u
#define HELD   4u

static struct frames *frames;
static struct page *held[2][2 * HELD];
static unsigned count[2];

static void push(struct page **magazines, struct page *page)
{
	page->magazine.count = 1;
	page->magazine.next_magazine = *magazines;
	*magazines = page;
}

static void shelve(const struct magazines *cache, struct page *page)
{
	struct frame_shelf *shelf = percpu_this(&cache->shelf);
	struct frame_depot *depot = cache->depot[0];

	if (atomic_load(&shelf->magazine_count)) {
		spin_lock(&depot->lock);
		push(&depot->magazines, page);
		atomic_fetch_add(&depot->magazine_count, 1);
		spin_unlock(&depot->lock);
	}
	if (!atomic_load(&shelf->magazine_count)) { /* planted: looked at twice */
		spin_lock(&shelf->lock);
		push(&shelf->magazines, page);
		atomic_fetch_add(&shelf->magazine_count, 1);
		spin_unlock(&shelf->lock);
	}
}

/* Magazines of one frame. */
static void free_twice(struct frames *all, struct page *page)
{
	page->magazine.next = NULL;
	shelve(all->cache, page);
}

static struct page *alloc(struct frames *all)
{
	return frame_magazine_ops.alloc(all);
}

static const struct frame_cache_ops twice_ops = {
    .create = magazines_create,
    .destroy = magazines_destroy,
    .alloc = alloc,
    .free = free_twice,
    .untouched = magazines_untouched,
    .check = magazines_check,
};

static void take(unsigned cpu)
{
	struct page *page = frame_alloc(frames);

	if (!page)
		return;
	page->line[0] = (char)cpu;
	held[cpu][count[cpu]++] = page;
}

static void give(unsigned cpu)
{
	if (count[cpu])
		page_put(frames, held[cpu][--count[cpu]]);
}

static int setup(struct message *why)
{
	const struct frames_config config = {.own_frames = FRAMES, .structure_only = true};

	frames = frames_create(&config);
	if (!frames)
		return message_set(why, -ENOMEM, "no memory");
	frames->ops = &twice_ops;
	count[0] = count[1] = 0;
	for (unsigned i = 0; i < 2 * HELD; i++)
		take(0);
	return 0;
}

static void give_all(void)
{
	for (unsigned i = 0; i < HELD; i++)
		give(0);
	for (unsigned i = 0; i < HELD; i++)
		take(0);
}

static void take_all(void)
{
	for (unsigned i = 0; i < HELD; i++)
		take(1);
}

static bool holds(struct message *why)
{
	return !frames_check(frames, count[0] + count[1], why);
}

static void teardown(void)
{
	for (unsigned cpu = 0; cpu < 2; cpu++)
		while (count[cpu])
			give(cpu);
	frames_destroy(frames);
}

const struct check planted_magazine_twice_check = {
    .name = "planted-magazine-twice",
    .summary = "a magazine pushed twice; right: frames-steal",
    .setup = setup,
    .body = {give_all, take_all},
    .holds = holds,
    .teardown = teardown,
    .planted_kind = "assertion|condition|use after free|differs from the model",
    .planted_mark = "planted: looked at twice",
};
