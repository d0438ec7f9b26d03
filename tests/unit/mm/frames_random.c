/* SPDX-License-Identifier: MIT */
/*
 * Many CPUs take and give frames at random, and hand them to each other, against a naive set: an array that
 * says who has each frame. Now and then there are none left.
 */
#include "tests/unit/mm/frames_fixture.h"

#include "port/panic.h"

#define CPUS   8u
#define USABLE 2000u
#define STEPS  20000u
#define BOXES  64u

struct stage {
	struct frames *frames;
	uint64_t seed;
	_Atomic unsigned owner[USABLE + 1]; /* CPU + 1; 0: the allocator */
	struct page *_Atomic box[BOXES];    /* on the way from one CPU to another */
	_Atomic unsigned exhausted, taken;
};

static void take(struct stage *stage, unsigned cpu, struct page **held, unsigned *count)
{
	struct page *page = frame_alloc(stage->frames);

	if (!page) {
		atomic_fetch_add(&stage->exhausted, 1);
		return;
	}
	invariant(page_to_pfn(stage->frames, page) >= 1 && page_to_pfn(stage->frames, page) <= USABLE);
	invariant(atomic_exchange(&stage->owner[page_to_pfn(stage->frames, page)], cpu + 1) == 0);
	held[(*count)++] = page;
	atomic_fetch_add(&stage->taken, 1);
}

static void give(struct stage *stage, unsigned cpu, struct page *page)
{
	invariant(atomic_exchange(&stage->owner[page_to_pfn(stage->frames, page)], 0) == cpu + 1);
	frame_free(stage->frames, page);
}

/* Puts a frame into a box and keeps what was there. */
static struct page *swap(struct stage *stage, unsigned cpu, struct page *page, unsigned box)
{
	if (page)
		invariant(atomic_exchange(&stage->owner[page_to_pfn(stage->frames, page)], CPUS + 1) ==
			  cpu + 1);
	page = atomic_exchange(&stage->box[box], page);
	if (page)
		invariant(atomic_exchange(&stage->owner[page_to_pfn(stage->frames, page)], cpu + 1) ==
			  CPUS + 1);
	return page;
}

static void take_and_give(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct page *held[USABLE];
	struct random random;
	unsigned count = 0;

	random_seed(&random, stage->seed + cpu);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned wanted = step / 2000 % 2 ? 30 : 70, what = (unsigned)random_below(&random, 100);

		if (what < wanted) {
			take(stage, cpu, held, &count);
		} else if (what < 95 && count) {
			unsigned which = (unsigned)random_below(&random, count);

			give(stage, cpu, held[which]);
			held[which] = held[--count];
		} else if (count) {
			held[count - 1] =
			    swap(stage, cpu, held[count - 1], (unsigned)random_below(&random, BOXES));
			count -= !held[count - 1];
		}
	}
	while (count)
		give(stage, cpu, held[--count]);
}

static void frames_have_one_owner(void **state)
{
	static struct stage stage;
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
		unsigned boxed = 0;

		stage.seed = seed;
		stage.frames = open_frames(all_frame_caches[i], USABLE);
		atomic_store(&stage.exhausted, 0);
		atomic_store(&stage.taken, 0);
		run_cpus(take_and_give, &stage);
		for (unsigned box = 0; box < BOXES; box++)
			boxed += atomic_load(&stage.box[box]) != NULL;
		assert_frames_good(stage.frames, boxed);
		for (unsigned box = 0; box < BOXES; box++) {
			struct page *page = atomic_exchange(&stage.box[box], NULL);

			if (page) {
				atomic_store(&stage.owner[page_to_pfn(stage.frames, page)], 1);
				give(&stage, 0, page);
			}
		}
		assert_true(stage.taken > STEPS);
		close_frames(stage.frames);
	}
}

/* Each CPU takes until it gets nothing; then all gives what it has back at once. */
static void take_the_last(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct page *held[USABLE];

	for (int round = 0; round < 20; round++) {
		unsigned count = 0, before;

		do {
			before = count;
			take(stage, cpu, held, &count);
		} while (count > before);
		while (count)
			give(stage, cpu, held[--count]);
	}
}

static void exhaustion_is_survived(void **state)
{
	static struct stage stage;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
		stage.frames = open_frames(all_frame_caches[i], USABLE);
		atomic_store(&stage.exhausted, 0);
		run_cpus(take_the_last, &stage);
		assert_int_equal(stage.exhausted, 20 * CPUS);
		close_frames(stage.frames);
	}
}

static int machine_open(void **state)
{
	(void)state;
	return host_open(CPUS);
}

static int machine_close(void **state)
{
	(void)state;
	host_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_have_one_owner),
	    cmocka_unit_test(exhaustion_is_survived),
	};

	return cmocka_run_group_tests(tests, machine_open, machine_close);
}
