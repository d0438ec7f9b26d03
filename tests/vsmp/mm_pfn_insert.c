/* SPDX-License-Identifier: MIT */
/*
 * PFN faults on the virtual machine: with the default policy no two CPUs' faults meet at any cache line; with
 * the lock of 2010 they meet at memtype_lock, once a fault.
 */
#include "tests/vsmp/fixture.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "mm/system/system.h"

#define CPUS  16u
#define PAGES 1600u /* of each CPU; some last-level tables, several magazines in all */
#define OWN   16384u
#define BASE  ((uintptr_t)512 << PORT_PAGE_SHIFT)

static struct sf_system *memory_system;
static struct sf_space *space[CPUS];
static enum policy_memtype policy;
static bool same_frames;

/* Makes an empty space; NULL when that fails. */
static struct sf_space *space_open(struct sf_system *system)
{
	struct sf_space *made;

	return sf_space_create(system, &made) ? NULL : made;
}

static int touch(struct sf_space *touched, uint64_t address, bool write)
{
	return sf_touch(touched, address, write ? SF_WRITE : SF_READ, NULL);
}

static void set_up(void *argument)
{
	struct system_config config = {.policy.memtype = policy,
				       .policy.page_table_lock = POLICY_PAGE_TABLE_LOCK_SPLIT,
				       .own_frames = OWN,
				       .exported_frames = CPUS * PAGES,
				       .structure_only = true};

	(void)argument;
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		space[cpu] = space_open(memory_system);
		assert_non_null(space[cpu]);
		assert_int_equal(system_map_pfn(space[cpu], BASE, PAGES * PORT_PAGE_SIZE,
						OWN + (same_frames ? 0 : cpu * PAGES), true),
				 0);
	}
}

static void touch_all(unsigned cpu, void *argument)
{
	(void)argument;
	vsmp_measure_begin();
	for (unsigned i = 0; i < PAGES; i++) {
		assert_int_equal(touch(space[cpu], BASE + i * PORT_PAGE_SIZE, true), 0);
		vsmp_count_operations(1);
	}
	vsmp_measure_end();
}

static void tear_down(void *argument)
{
	struct message why = {""};

	(void)argument;
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		sf_space_destroy(space[cpu]);
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	system_destroy(memory_system);
}

/* Runs it all on 4 sockets of 4 cores, and returns the longest window. */
static uint64_t run(enum policy_memtype memtype, bool same, struct vsmp_report *report)
{
	struct message why = {""};
	uint64_t longest = 0;

	policy = memtype;
	same_frames = same;
	fixture_create(4, 4, 1, CPUS, 7);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(touch_all, NULL, 1000, &why))
		fail_msg("%s", why.text);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		if (vsmp_window_cycles(cpu) > longest)
			longest = vsmp_window_cycles(cpu);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->operations, CPUS * PAGES);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
	return longest;
}

static const struct vsmp_lock_row *find_lock(const struct vsmp_report *report, const char *name, int shared)
{
	for (size_t i = 0; i < report->lock_count; i++)
		if (!strcmp(report->locks[i].name, name) && report->locks[i].shared == shared)
			return &report->locks[i];
	return NULL;
}

static const struct vsmp_conflict_row *find_conflict(const struct vsmp_report *report, const char *scope,
						     const char *other_scope)
{
	for (size_t i = 0; i < report->conflict_count; i++)
		if (!strcmp(report->conflicts[i].scope, scope) &&
		    !strcmp(report->conflicts[i].other_scope, other_scope))
			return &report->conflicts[i];
	return NULL;
}

/* The only lines that move are those of the depots, and they belong to the refill's own scope. */
static void faults_without_the_lock_never_meet(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct vsmp_report report = {0};
		const struct vsmp_conflict_row *conflict;

		run(POLICY_MEMTYPE_CMPXCHG, same, &report);
		for (size_t i = 0; i < report.conflict_count; i++) {
			conflict = &report.conflicts[i];
			if (!strcmp(conflict->scope, "fault") || !strcmp(conflict->other_scope, "fault"))
				fail_msg("%s and %s conflict at %s", conflict->scope, conflict->other_scope,
					 conflict->name);
		}
		assert_non_null(find_conflict(&report, "frame refill", "frame refill"));
		assert_null(find_lock(&report, "memtype_lock", 0));
		assert_int_equal(find_lock(&report, "page_table_lock", 0)->acquisitions, CPUS * PAGES);
		assert_int_equal(find_lock(&report, "page_table_lock", 0)->contentions, 0);
		vsmp_report_free(&report);
	}
}

static void faults_under_the_lock_meet_there(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_conflict_row *conflict;
	const struct vsmp_lock_row *lock;
	uint64_t with_lock, without;

	(void)state;
	with_lock = run(POLICY_MEMTYPE_SPIN, false, &report);
	lock = find_lock(&report, "memtype_lock", 0);
	assert_non_null(lock);
	assert_int_equal(lock->acquisitions, CPUS * PAGES);
	assert_true(lock->contentions > CPUS * PAGES / 2);
	conflict = find_conflict(&report, "fault", "fault");
	assert_non_null(conflict);
	assert_non_null(strstr(conflict->name, "memtype_lock"));
	assert_int_equal(conflict->lines, 1);
	assert_non_null(strstr(report.lines[0].name, "memtype_lock"));
	vsmp_report_free(&report);

	without = run(POLICY_MEMTYPE_CMPXCHG, false, &report);
	vsmp_report_free(&report);
	assert_true(with_lock > 2 * without);
}

static void a_reader_lock_is_written_too(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_lock_row *lock;

	(void)state;
	run(POLICY_MEMTYPE_RWLOCK, false, &report);
	lock = find_lock(&report, "memtype_lock", 1);
	assert_non_null(lock);
	assert_int_equal(lock->acquisitions, CPUS * PAGES);
	assert_non_null(find_conflict(&report, "fault", "fault"));
	vsmp_report_free(&report);
}

static void take_every_frame(void *argument)
{
	/* Four nodes of 25 frames; the first is without the zero page, the last has three more. */
	struct frames *frames = frames_create(&(struct frames_config){.own_frames = 103});
	struct page *page[102];
	struct message why = {""};

	(void)argument;
	assert_non_null(frames);
	for (unsigned i = 0; i < ARRAY_SIZE(page); i++) {
		page[i] = frame_alloc(frames);
		assert_non_null(page[i]);
	}
	assert_null(frame_alloc(frames));
	if (frames_check(frames, ARRAY_SIZE(page), &why))
		fail_msg("%s", why.text);
	for (unsigned i = 0; i < ARRAY_SIZE(page); i++)
		frame_free(frames, page[i]);
	if (frames_check(frames, 0, &why))
		fail_msg("%s", why.text);
	frames_destroy(frames);
}

static void one_cpu_reaches_the_frames_of_all_nodes(void **state)
{
	(void)state;
	fixture_create(4, 1, 1, 4, 1);
	assert_int_equal(vsmp_setup(take_every_frame, NULL, NULL), 0);
	vsmp_destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(faults_without_the_lock_never_meet),
	    cmocka_unit_test(faults_under_the_lock_meet_there),
	    cmocka_unit_test(a_reader_lock_is_written_too),
	    cmocka_unit_test(one_cpu_reaches_the_frames_of_all_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
