/* SPDX-License-Identifier: MIT */
/*
 * Faults keep their speed while memory is scanned elsewhere: 64 CPUs fault a growing resident set in while
 * one more has a working set of twice its group's limit, or reclaims what others left. With the default
 * policy that costs them at most 5 %, and no line that both write but in the batched refills.
 */
#include "tests/vsmp/fixture.h"

#include <stdio.h>
#include <string.h>

#include "mm/system/system.h"

#define CPUS   64u /* that fault; the one after them reclaims */
#define PAGE   SF_PAGE_SIZE
#define REGION ((uint64_t)512 * PAGE)
#define BASE   ((uint64_t)1 << 32)
#define PAGES  400u /* of each CPU */
#define LIMIT  256u /* pages of the group that is full */

enum kind { KIND_IDLE, KIND_GROUP, KIND_LEFT };

static struct sf_system *memory_system;
static struct sf_space *space, *full_space, *left_space;
static struct sf_group *full, *left;
static enum kind now;
static _Atomic bool done;

static struct sf_space *open_space(struct sf_group *group, uint64_t bytes)
{
	struct sf_space *made;
	uint64_t mapped;

	assert_int_equal(sf_space_create_in(group, &made), 0);
	assert_int_equal(sf_map(made, BASE, bytes, SF_PROT_READ | SF_PROT_WRITE,
				SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
	return made;
}

static void set_up(void *argument)
{
	struct system_config config = {.own_frames = 131072, .structure_only = true};
	struct sf_group *root;

	(void)argument;
	assert_int_equal(policy_parse(&config.policy, "default", NULL), 0);
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	assert_int_equal(sf_swap_add_memory(memory_system, (uint64_t)65536 * PAGE, 0), 0);
	root = sf_group_root(memory_system);
	assert_int_equal(sf_group_create(root, &full), 0);
	assert_int_equal(sf_group_set_limit(full, LIMIT * PAGE), 0);
	assert_int_equal(sf_group_create(root, &left), 0);
	space = open_space(root, CPUS * REGION);
	full_space = open_space(full, REGION);
	left_space = open_space(left, CPUS * REGION);
	atomic_store(&done, false);
}

static void touch(struct sf_space *of, uint64_t address)
{
	assert_int_equal(sf_touch(of, address, SF_WRITE, NULL), 0);
}

/* All CPUs have left pages of another group on their lists. */
static void reclaim_elsewhere(void)
{
	for (uint64_t page = 0; !atomic_load_explicit(&done, memory_order_relaxed); page++) {
		if (now == KIND_GROUP)
			touch(full_space, BASE + page % (2 * LIMIT) * PAGE);
		else if (now == KIND_LEFT && !sf_group_reclaim(left, 32 * PAGE))
			break;
		else if (now == KIND_IDLE)
			break;
	}
}

static void body(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu < CPUS) {
		touch(space, BASE + cpu * REGION);
		for (unsigned page = 0; page < PAGES; page++)
			touch(left_space, BASE + cpu * REGION + page * PAGE);
	} else {
		for (unsigned page = 0; page < 2 * LIMIT; page++)
			touch(full_space, BASE + page * PAGE);
	}
	vsmp_barrier();
	if (cpu == CPUS) {
		/* A window without operations: for the conflicts. */
		vsmp_measure_begin();
		reclaim_elsewhere();
		vsmp_measure_end();
		return;
	}
	vsmp_measure_begin();
	for (unsigned page = 1; page < PAGES; page++) {
		touch(space, BASE + cpu * REGION + page * PAGE);
		vsmp_count_operations(1);
	}
	vsmp_measure_end();
	atomic_store_explicit(&done, true, memory_order_relaxed);
}

static void tear_down(void *argument)
{
	struct sf_reclaim_statistics counts;
	struct message why = {""};

	(void)argument;
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	sf_reclaim_statistics(memory_system, &counts);
	print_message("%llu reclaimed of %llu scanned\n", (unsigned long long)counts.reclaimed,
		      (unsigned long long)counts.scanned);
	assert_true(counts.reclaimed > (now == KIND_IDLE ? 0 : 400));
	sf_space_destroy(space);
	sf_space_destroy(full_space);
	sf_space_destroy(left_space);
	assert_int_equal(sf_group_destroy(full), 0);
	assert_int_equal(sf_group_destroy(left), 0);
	system_destroy(memory_system);
}

/* Returns nanoseconds a fault, over the windows of the CPUs that fault. */
static double run(enum kind kind)
{
	struct message why = {""};
	struct vsmp_report report;
	double per_operation, seconds;
	uint64_t operations;

	now = kind;
	fixture_create(5, 16, 1, CPUS + 1, 5);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(body, NULL, 1000, &why))
		fail_msg("%s", why.text);
	vsmp_timing(&per_operation, &seconds, &operations);
	assert_int_equal(vsmp_report(&report), 0);
	for (size_t i = 0; i < report.conflict_count; i++)
		if (!strcmp(report.conflicts[i].scope, "fault") &&
		    !strcmp(report.conflicts[i].other_scope, "reclaim") &&
		    strncmp(report.conflicts[i].name, "struct page.", 12))
			fail_msg("fault and reclaim meet at %s", report.conflicts[i].name);
	assert_int_equal(operations, CPUS * (PAGES - 1));
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
	print_message("%.1f ns a fault\n", per_operation * 1e9);
	return per_operation * 1e9;
}

static void faults_keep_their_speed(void **state)
{
	double idle = run(KIND_IDLE);

	(void)state;
	assert_true(run(KIND_GROUP) <= 1.05 * idle);
	assert_true(run(KIND_LEFT) <= 1.05 * idle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(faults_keep_their_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
