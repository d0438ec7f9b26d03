/* SPDX-License-Identifier: MIT */
/*
 * Faults and unmaps of one space by several CPUs at once.
 */
#include "tests/unit/mm/fixture.h"

#include <string.h>

#include "mm/table/pte.h"

#define CPUS   4
#define OWN    512u
#define LARGE  ((uintptr_t)512 * PAGE)
#define PAGES  64u
#define ROUNDS 2000

/* The last pages before a border of two last-level tables, and the first after it. */
#define BASE (7 * LARGE - 8 * PAGE)

struct stage {
	struct sf_system *system;
	struct sf_space *space;
	uint64_t seed;
	_Atomic unsigned finished;
	_Atomic uint64_t touched, missed;
};

static int machine_of_four(void **state)
{
	(void)state;
	return host_open(CPUS);
}

static void stage_open(struct stage *stage, uint64_t seed)
{
	memset(stage, 0, sizeof(*stage));
	stage->system = system_open(POLICY_MEMTYPE_CMPXCHG, OWN, ROUNDS + PAGES);
	stage->space = space_open(stage->system);
	assert_non_null(stage->space);
	stage->seed = seed;
}

static void stage_close(struct stage *stage)
{
	assert_system_good(stage->system);
	sf_space_destroy(stage->space);
	assert_system_good(stage->system);
	system_destroy(stage->system);
}

/* Touches until told to stop; every touch is either done or finds nothing mapped. */
static void touch_at_random(struct stage *stage, unsigned cpu, uintptr_t base, unsigned pages)
{
	struct random random;

	random_seed(&random, stage->seed + cpu);
	while (!atomic_load_explicit(&stage->finished, memory_order_relaxed)) {
		uintptr_t address = base + random_below(&random, pages) * PAGE;
		int error = touch(stage->space, address, random_below(&random, 2));

		assert_true(error == 0 || error == -EFAULT);
		atomic_fetch_add_explicit(error ? &stage->missed : &stage->touched, 1, memory_order_relaxed);
		port_cpu_relax();
	}
}

/* Lets the other CPUs go on for a while, so that the threads really meet, however few processors there are.
 */
static void let_others_run(struct stage *stage)
{
	uint64_t before = atomic_load(&stage->touched) + atomic_load(&stage->missed);

	while (atomic_load(&stage->touched) + atomic_load(&stage->missed) < before + 6)
		port_cpu_relax();
}

static void assert_no_entry(struct stage *stage, uintptr_t base, unsigned pages)
{
	for (unsigned i = 0; i < pages; i++)
		assert_int_equal(system_pte(stage->space, base + i * PAGE), 0);
}

/*
 * CPU 0 maps and unmaps, each time to other frames; the others touch. After an unmap there is no entry, and
 * none comes; after a map no entry has the frames of before.
 */
static void map_and_unmap(unsigned cpu, void *argument)
{
	struct stage *stage = argument;

	if (cpu) {
		touch_at_random(stage, cpu, BASE, PAGES);
		return;
	}
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t pfn = OWN + round;

		assert_int_equal(system_map_pfn(stage->space, BASE, PAGES * PAGE, pfn, true), 0);
		if (round % 2)
			let_others_run(stage);
		for (unsigned i = 0; i < PAGES; i++) {
			uint64_t pte = system_pte(stage->space, BASE + i * PAGE);

			assert_true(!pte || pte_pfn(pte) == pfn + i);
			if (i % 8 == 0)
				assert_int_equal(touch(stage->space, BASE + i * PAGE, true), 0);
		}
		/* Twice what is mapped: the tables on both sides of the border are given back now and then.
		 */
		assert_int_equal(sf_unmap(stage->space, round % 3 ? BASE : 6 * LARGE,
					  round % 3 ? PAGES * PAGE : 2 * LARGE),
				 0);
		for (int look = 0; look < 4; look++) {
			assert_no_entry(stage, BASE, PAGES);
			port_cpu_relax();
		}
		if (round % 4 == 0) {
			let_others_run(stage);
			assert_no_entry(stage, BASE, PAGES);
		}
	}
	atomic_store(&stage->finished, 1);
}

static void no_entry_appears_after_an_unmap(void **state)
{
	static struct stage stage;

	(void)state;
	stage_open(&stage, test_seed(3));
	assert_int_equal(host_run(map_and_unmap, &stage), 0);
	stage_close(&stage);
}

/*
 * CPU 0 cuts holes into one mapping and fills them again, with the same frames, so that the mappings beside a
 * hole are replaced all the time. What was never cut stays: a touch of it never fails.
 *
 *   page      0 1 2 3 ....          even pages are CPU 0's, odd ones must always be there
 */
static void cut_holes(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct random random;

	random_seed(&random, stage->seed + cpu);
	if (cpu == 0) {
		for (int round = 0; round < ROUNDS; round++) {
			uint64_t page = random_below(&random, PAGES / 2) * 2;

			assert_int_equal(sf_unmap(stage->space, BASE + page * PAGE, PAGE), 0);
			if (round % 4 == 0)
				let_others_run(stage);
			assert_no_entry(stage, BASE + page * PAGE, 1);
			assert_int_equal(
			    system_map_pfn(stage->space, BASE + page * PAGE, PAGE, OWN + page, true), 0);
		}
		atomic_store(&stage->finished, 1);
		return;
	}
	while (!atomic_load_explicit(&stage->finished, memory_order_relaxed)) {
		uint64_t page = random_below(&random, PAGES);
		int error = touch(stage->space, BASE + page * PAGE, true);

		if (page % 2)
			assert_int_equal(error, 0);
		else
			assert_true(error == 0 || error == -EFAULT);
		atomic_fetch_add_explicit(error ? &stage->missed : &stage->touched, 1, memory_order_relaxed);
		port_cpu_relax();
	}
}

static void neighbours_of_a_hole_stay(void **state)
{
	static struct stage stage;

	(void)state;
	stage_open(&stage, test_seed(4));
	assert_int_equal(system_map_pfn(stage.space, BASE, PAGES * PAGE, OWN, true), 0);
	assert_int_equal(host_run(cut_holes, &stage), 0);
	stage_close(&stage);
}

/*
 * All CPUs fault in the same empty tables at once: each level is made once, each loser gives its frame back.
 */
static void grow_at_once(unsigned cpu, void *argument)
{
	struct stage *stage = argument;

	(void)cpu;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(touch(stage->space, (i + 1) * LARGE, true), 0);
}

static void tables_grow_once(void **state)
{
	static struct stage stage;

	(void)state;
	for (int round = 0; round < 20; round++) {
		stage_open(&stage, 0);
		for (unsigned i = 0; i < 100; i++)
			assert_int_equal(system_map_pfn(stage.space, (i + 1) * LARGE, PAGE, OWN, true), 0);
		assert_int_equal(host_run(grow_at_once, &stage), 0);
		/* The check counts the frames: root, two levels, a table for each touch. */
		stage_close(&stage);
	}
}

/* Each CPU has a space of its own and changes it, while the frames are all the same. */
static void use_own_space(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct random random;

	random_seed(&random, stage->seed + cpu);
	for (int round = 0; round < 40; round++) {
		struct sf_space *space = space_open(stage->system);

		assert_non_null(space);
		assert_int_equal(system_map_pfn(space, BASE, PAGES * PAGE, OWN, true), 0);
		for (int i = 0; i < 40; i++)
			assert_int_equal(touch(space, BASE + random_below(&random, PAGES) * PAGE, true), 0);
		assert_int_equal(sf_unmap(space, BASE, random_below(&random, 2) ? PAGES / 2 * PAGE : LARGE),
				 0);
		sf_space_destroy(space);
	}
}

static void spaces_do_not_disturb_each_other(void **state)
{
	static struct stage stage;

	(void)state;
	stage_open(&stage, test_seed(5));
	assert_int_equal(host_run(use_own_space, &stage), 0);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(no_entry_appears_after_an_unmap, machine_of_four, machine_close),
	    cmocka_unit_test_setup_teardown(neighbours_of_a_hole_stay, machine_of_four, machine_close),
	    cmocka_unit_test_setup_teardown(tables_grow_once, machine_of_four, machine_close),
	    cmocka_unit_test_setup_teardown(spaces_do_not_disturb_each_other, machine_of_four, machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
