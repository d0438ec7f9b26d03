/* SPDX-License-Identifier: MIT */
/*
 * Reclaim needs no frames: with not one free it takes memory of every kind away, as nobody keeps a reserve
 * for it.
 */
#include "mm/space/space.h"
#include "tests/unit/mm/reclaim_fixture.h"

#define OWN   1500u
#define PAGES 300u

/* All that are free, as a list; returns how many. */
static uint64_t take_all_frames(struct frames *frames, struct page **all)
{
	struct page *page;
	uint64_t count = 0;

	for (*all = NULL; (page = frame_alloc(frames)); count++) {
		page->next = *all;
		*all = page;
	}
	assert_int_equal(frames_free_count(frames), 0);
	return count;
}

static void give_all_back(struct frames *frames, struct page *all)
{
	while (all) {
		struct page *next = all->next;

		frame_free(frames, all);
		all = next;
	}
}

/* Reclaims all pages of the stage's memory, and brings them back. */
static void reclaims_without_a_frame(struct stage *stage, uint64_t pages)
{
	struct frames *frames = stage->space->parts.frames;
	struct page *all;
	uint64_t taken = take_all_frames(frames, &all);
	uint64_t handed_out = frames_counted(frames, FRAMES_ALLOCATED), reclaimed = 0, now;

	/* What was touched has a second chance. */
	do {
		now = sf_group_reclaim(stage->group, pages * PAGE) / PAGE;
		reclaimed += now;
	} while (now);
	assert_true(reclaimed >= pages);
	assert_true(taken > 0);
	assert_int_equal(frames_counted(frames, FRAMES_ALLOCATED), handed_out);
	assert_true(frames_free_count(frames) >= reclaimed);
	holds(stage, pages);
	give_all_back(frames, all);
}

static void anonymous_memory_leaves(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct stage stage;

		open_stage(&stage, reclaim_policies[i], OWN, UNLIMITED, PAGES);
		fills(&stage, PAGES);
		reclaims_without_a_frame(&stage, PAGES);
		close_stage(&stage);
	}
}

/* Shared memory, or a file's pages, all dirty. */
static void objects_leave(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(reclaim_policies); i++) {
		struct memory_backing file;
		struct sf_object *object;
		struct stage stage;

		open_stage(&stage, reclaim_policies[i / 2], OWN, UNLIMITED, 1);
		object = map_object(&stage, i % 2 ? &file : NULL, PAGES);
		fills(&stage, PAGES);
		reclaims_without_a_frame(&stage, PAGES);
		sf_object_close(object);
		close_stage(&stage);
		if (i % 2)
			memory_backing_close(&file);
	}
}

/* Whoever needs a frame when there is none finds one by reclaim. */
static void a_fault_finds_a_frame(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct frames *frames;
		struct stage stage;
		struct page *all;

		open_stage(&stage, reclaim_policies[i], OWN, UNLIMITED, 2 * PAGES);
		fills(&stage, PAGES);
		frames = stage.space->parts.frames;
		take_all_frames(frames, &all);
		fills(&stage, 2 * PAGES);
		holds(&stage, 2 * PAGES);
		give_all_back(frames, all);
		close_stage(&stage);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(anonymous_memory_leaves, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(objects_leave, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(a_fault_finds_a_frame, machine_open, machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
