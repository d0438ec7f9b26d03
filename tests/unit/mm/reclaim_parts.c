/* SPDX-License-Identifier: MIT */
/*
 * What reclaim is told: how many frames are free, before more are taken than it said; and which pages come
 * back too early.
 */
#include "mm/charge/workingset.h"
#include "tests/common/charge_ground.h"
#include "tests/unit/mm/fixture.h"

#define FRAMES 300u

static struct frames *frames;
static struct page *taken[FRAMES];
static unsigned count;

static void open_frames(void)
{
	frames = frames_create(&(struct frames_config){.own_frames = FRAMES});
	assert_non_null(frames);
	count = 0;
}

static void close_frames(void)
{
	while (count)
		page_put(frames, taken[--count]);
	frames_destroy(frames);
}

static bool called(void)
{
	return atomic_load(&frames->watch_called);
}

static void take(unsigned pages)
{
	while (pages--) {
		taken[count] = frame_alloc(frames);
		assert_non_null(taken[count++]);
	}
}

static void give(unsigned pages)
{
	while (pages--)
		page_put(frames, taken[--count]);
}

/* Two CPUs share 40 frames: the one that is used has 20. */
static void is_called_in_time(void **state)
{
	(void)state;
	open_frames();
	take(50);
	assert_false(called());
	frames_watch(frames, 40);
	take(19);
	assert_false(called());
	give(30);
	take(30);
	assert_false(called());
	take(1);
	assert_true(called());
	close_frames();
}

static void calls_once_for_a_share(void **state)
{
	(void)state;
	open_frames();
	frames_watch(frames, 4);
	take(2);
	assert_true(called());
	atomic_store(&frames->watch_called, 0);
	take(100);
	assert_false(called());
	frames_watch(frames, 0);
	take(1);
	assert_true(called());
	close_frames();
}

static void ends(void **state)
{
	(void)state;
	open_frames();
	frames_watch(frames, 2);
	frames_watch_end(frames);
	take(100);
	assert_false(called());
	close_frames();
}

/* The shares count from what the CPU has given back beyond what it took. */
static void counts_from_below_zero(void **state)
{
	(void)state;
	open_frames();
	take(10);
	/* As if another CPU had taken them. */
	frames_count(frames, FRAMES_ALLOCATED, -10);
	give(10);
	frames_watch(frames, 24);
	take(11);
	assert_false(called());
	take(1);
	assert_true(called());
	frames_count(frames, FRAMES_ALLOCATED, 10);
	close_frames();
}

static struct page *new_page(struct ground *ground, struct sf_group *group, bool file)
{
	struct charge charge = {.group = group};
	struct page *page = charged_page_alloc(ground->frames, &charge);

	assert_non_null(page);
	if (file)
		page_set_flag(page, PG_file);
	return page;
}

/* Ten active pages: what comes back within a distance of ten was taken too early. */
static void refaults_are_measured(void **state)
{
	struct policy policy = charge_policy(0);
	struct ground ground;
	struct sf_group *group, *other;
	struct page *page[16], *back, *old;
	uint64_t early, late;

	(void)state;
	ground_open(&ground, &policy, 100);
	group = group_create(ground.groups->root);
	other = group_create(ground.groups->root);
	for (unsigned i = 0; i < 10; i++) {
		page[i] = new_page(&ground, group, true);
		lru_add(ground.frames->lru, page[i], LRU_ACTIVE);
	}
	old = new_page(&ground, group, true);
	page_set_flag(old, PG_workingset);
	late = workingset_evict(old);
	for (unsigned i = 0; i < 5; i++)
		workingset_evict(page[0]);
	page_clear_flag(old, PG_workingset);
	early = workingset_evict(old);
	for (unsigned i = 0; i < 9; i++)
		workingset_evict(page[0]);
	assert_true(early && early >> WORKINGSET_SHADOW_BITS == 0 && late >> WORKINGSET_SHADOW_BITS == 0);

	back = new_page(&ground, group, true);
	assert_int_equal(workingset_refault(back, early), LRU_ACTIVE);
	assert_false(page_has_flag(back, PG_workingset));
	assert_int_equal(workingset_refault(back, late), LRU_INACTIVE);
	assert_true(page_has_flag(back, PG_workingset));
	assert_int_equal(workingset_refault(back, 0), LRU_ACTIVE);
	assert_int_equal(frames_counted(ground.frames, FRAMES_REFAULTS), 3);
	/* Of many, about so many are a cost of their kind. */
	for (unsigned i = 0; i < 1000; i++)
		workingset_refault(back, late);
	assert_in_range(atomic_load(&group->cost[RECLAIM_FILE]), 900, 1100);
	assert_int_equal(atomic_load(&group->cost[RECLAIM_ANONYMOUS]), 0);
	page_put(ground.frames, back);
	/* To another group it is new. */
	back = new_page(&ground, other, true);
	assert_int_equal(workingset_refault(back, early), LRU_INACTIVE);
	page_put(ground.frames, back);
	page_put(ground.frames, old);
	for (unsigned i = 0; i < 10; i++)
		page_put(ground.frames, page[i]);
	assert_int_equal(group_destroy(group), 0);
	assert_int_equal(group_destroy(other), 0);
	ground_close(&ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(is_called_in_time, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(calls_once_for_a_share, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(ends, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(counts_from_below_zero, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(refaults_are_measured, machine_open, machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
