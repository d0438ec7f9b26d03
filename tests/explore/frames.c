/* SPDX-License-Identifier: MIT */
/*
 * The frame allocator: no frame is handed out twice, none is lost, and who finds nothing at home takes it
 * from others. The magazines of so small a system have one frame each, so every second call visits a shelf.
 */
#include "mm/page/frames.h"

#include <errno.h>
#include <stddef.h>

#include "tests/explore/fixture.h"

#define FRAMES 9u
#define HELD   4u

static struct frames *frames;

/* What each CPU has. */
static struct page *held[CHECK_CPUS_MAX][HELD];
static unsigned count[CHECK_CPUS_MAX];

static void take(unsigned cpu)
{
	struct page *page = frame_alloc(frames);

	if (!page)
		return;
	check_that(page_refcount(page) == 1 && !page_has_flag(page, PG_free));
	/* Nobody else has it: a plain write tells. */
	page->line[0] = (char)cpu;
	held[cpu][count[cpu]++] = page;
}

static void give(unsigned cpu)
{
	struct page *page;

	if (!count[cpu])
		return;
	page = held[cpu][--count[cpu]];
	check_equal(page->line[0], cpu);
	page_put(frames, page);
}

static int setup(struct message *why)
{
	const struct frames_config config = {
	    .own_frames = FRAMES, .structure_only = true, .cache = fixture_policy().frame_cache};

	frames = frames_create(&config);
	if (!frames)
		return message_set(why, -ENOMEM, "no memory");
	for (unsigned cpu = 0; cpu < CHECK_CPUS_MAX; cpu++)
		count[cpu] = 0;
	return 0;
}

static void take_and_give(unsigned cpu)
{
	for (unsigned i = 0; i < HELD; i++)
		take(cpu);
	for (unsigned i = 0; i < HELD; i++)
		give(cpu);
	take(cpu);
}

static void first(void)
{
	take_and_give(0);
}

static void second(void)
{
	take_and_give(1);
}

static void third(void)
{
	take_and_give(2);
}

static bool holds(struct message *why)
{
	uint64_t in_use = count[0] + count[1] + count[2];

	return !frames_check(frames, in_use, why) &&
	       fixture_equal("frames that are free", frames_free_count(frames), FRAMES - 1 - in_use, why);
}

static void teardown(void)
{
	for (unsigned cpu = 0; cpu < 3; cpu++)
		while (count[cpu])
			give(cpu);
	frames_destroy(frames);
}

const struct check frames_fresh_check = {
    .name = "frames-fresh",
    .summary = "takes and gives of frames that were never handed out",
    .setup = setup,
    .body = {first, second, third},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_frame_cache,
};

/* CPU 0 has had all frames and has given them back; CPU 1 must steal what CPU 0 goes on using. */
static int setup_used(struct message *why)
{
	struct page *page[FRAMES];
	unsigned taken = 0;
	int error = setup(why);

	if (error)
		return error;
	while ((page[taken] = frame_alloc(frames)))
		taken++;
	while (taken)
		page_put(frames, page[--taken]);
	return 0;
}

static void give_and_take(void)
{
	take(0);
	take(0);
	give(0);
	give(0);
	take(0);
	take(0);
}

const struct check frames_steal_check = {
    .name = "frames-steal",
    .summary = "the refill of an empty CPU against the drain of a full one",
    .setup = setup_used,
    .body = {give_and_take, second},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_frame_cache,
};

/* What one CPU has taken another gives back: frames gather where they are not taken. */
static int setup_handed(struct message *why)
{
	int error = setup(why);

	if (error)
		return error;
	for (unsigned i = 0; i < HELD; i++) {
		take(0);
		held[1][i] = frame_alloc(frames);
		check_that(held[1][i]);
		held[1][i]->line[0] = 1;
	}
	count[1] = HELD;
	return 0;
}

static void give_all(void)
{
	while (count[1])
		give(1);
}

static void give_all_and_take(void)
{
	while (count[0])
		give(0);
	for (unsigned i = 0; i < HELD; i++)
		take(0);
}

const struct check frames_drain_check = {
    .name = "frames-drain",
    .summary = "drains of two CPUs, and the refill of one",
    .setup = setup_handed,
    .body = {give_all_and_take, give_all},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_frame_cache,
};

/* One page with two users: the last of them gives it back, whoever that is. */
static int setup_shared(struct message *why)
{
	int error = setup(why);

	if (error)
		return error;
	take(0);
	page_get(held[0][0]);
	return 0;
}

static void put(void)
{
	page_put(frames, held[0][0]);
}

static bool holds_put(struct message *why)
{
	count[0] = 0;
	return holds(why);
}

const struct check frames_put_check = {
    .name = "frames-put",
    .summary = "two puts of the last references to a page",
    .setup = setup_shared,
    .body = {put, put},
    .holds = holds_put,
    .teardown = teardown,
    .variants = variants_frame_cache,
};

/* The same on two memory nodes, a CPU in each: frames come from the other's, and go home by its depot. */
const struct check frames_fresh_nodes_check = {
    .name = "frames-fresh-nodes",
    .summary = "as frames-fresh, where CPUs have nodes of their own",
    .setup = setup,
    .body = {first, second, third},
    .nodes = 2,
    .holds = holds,
    .teardown = teardown,
    .variants = variants_frame_cache,
};

const struct check frames_steal_nodes_check = {
    .name = "frames-steal-nodes",
    .summary = "as frames-steal, where CPUs have nodes of their own",
    .setup = setup_used,
    .body = {give_and_take, second},
    .nodes = 2,
    .holds = holds,
    .teardown = teardown,
    .variants = variants_frame_cache,
};

const struct check frames_drain_nodes_check = {
    .name = "frames-drain-nodes",
    .summary = "as frames-drain, where CPUs have nodes of their own: frames are sent home",
    .setup = setup_handed,
    .body = {give_all_and_take, give_all},
    .nodes = 2,
    .holds = holds,
    .teardown = teardown,
    .variants = variants_frame_cache,
};
