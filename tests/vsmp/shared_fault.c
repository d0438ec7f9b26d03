/* SPDX-License-Identifier: MIT */
/*
 * Faults of 64 CPUs on one shared memory object. Each policy takes the object's locks exactly as often as it
 * should; with the default one, faults in different 2 MiB of the object touch no line that another writes.
 */
#include "tests/vsmp/fixture.h"

#include <stdio.h>
#include <string.h>

#include "mm/system/system.h"

#define CPUS   64u
#define PAGE   SF_PAGE_SIZE
#define REGION ((uint64_t)512 * PAGE)
#define BASE   ((uint64_t)1 << 32)

/* Of each CPU: two regions, of which it touches so many pages; one page of each is touched before. */
#define REGIONS 2u
#define PAGES   96u
#define FAULTS  (CPUS * REGIONS * (PAGES - 1))

static struct sf_system *memory_system;
static struct sf_space *space;
static struct sf_object *object;

struct run {
	const char *policy;
	enum sf_access access;
	uint64_t limit;
	bool same; /* all CPUs touch the pages of the first one */
};
static struct run now;

static void set_up(void *argument)
{
	struct system_config config = {.own_frames = 65536, .structure_only = true};
	struct message why = {""};
	uint64_t mapped;

	(void)argument;
	if (policy_parse(&config.policy, now.policy, &why))
		fail_msg("%s", why.text);
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	assert_int_equal(sf_space_create(memory_system, &space), 0);
	assert_int_equal(sf_object_create(memory_system, CPUS * REGIONS * REGION, now.limit, &object), 0);
	assert_int_equal(sf_map_object(space, BASE, CPUS * REGIONS * REGION, SF_PROT_READ | SF_PROT_WRITE,
				       SF_MAP_SHARED | SF_MAP_FIXED, object, 0, &mapped),
			 0);
}

static uint64_t address_of(unsigned cpu, unsigned region, unsigned page)
{
	return BASE + ((now.same ? 0 : cpu) * REGIONS + region) * REGION + page * PAGE;
}

static void touch_own(unsigned cpu, void *argument)
{
	(void)argument;
	/* The page tables and the index's upper nodes, the CPU's bit in the space. */
	for (unsigned region = 0; region < REGIONS; region++)
		assert_int_equal(sf_touch(space, address_of(cpu, region, 0), now.access, NULL), 0);
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned page = 1; page < PAGES; page++) {
		for (unsigned region = 0; region < REGIONS; region++) {
			assert_int_equal(sf_touch(space, address_of(cpu, region, page), now.access, NULL), 0);
			vsmp_count_operations(1);
		}
	}
	vsmp_measure_end();
}

static void assert_good(void)
{
	struct message why = {""};

	if (system_check(memory_system, &why))
		fail_msg("%s: %s", now.policy, why.text);
}

static void tear_down(void *argument)
{
	struct sf_object_statistics statistics;

	(void)argument;
	assert_good();
	sf_object_statistics(object, &statistics);
	assert_int_equal(statistics.cached, (now.same ? 1 : CPUS) * REGIONS * PAGES * PAGE);
	sf_space_destroy(space);
	sf_object_close(object);
	assert_good();
	system_destroy(memory_system);
}

static void run(const struct run *run, struct vsmp_report *report)
{
	struct message why = {""};

	now = *run;
	fixture_create(4, 16, 1, CPUS, 5);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(touch_own, NULL, 1000, &why))
		fail_msg("%s", why.text);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->dropped, 0);
	assert_int_equal(report->operations, FAULTS);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
}

static uint64_t acquisitions(const struct vsmp_report *report, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report->lock_count; i++)
		sum += strcmp(report->locks[i].name, name) ? 0 : report->locks[i].acquisitions;
	return sum;
}

static void locks_are_taken_as_often_as_they_should(void **state)
{
	static const struct {
		const char *policy;
		unsigned object_lock, tree_lock; /* a fault */
	} cases[] = {
	    {"default", 0, 0},
	    {"default page_index=tree_lock", 0, 1},
	    {"default shmem_account=inode_lock", 1, 0},
	    {"default shmem_account=inode_lock shmem_alloc=inside", 2, 0},
	    {"default shmem_account=ramfs page_index=tree_lock", 0, 1},
	    {"base_2010", 2, 1},
	    {"base_2010 shmem_alloc=before", 1, 1},
	    {"base_2010 shmem_alloc=before shmem_account=ramfs", 0, 1},
	    {"base_2014", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct run one = {cases[i].policy, SF_READ, 0, false};
		struct vsmp_report report;

		run(&one, &report);
		print_message("%s\n", cases[i].policy);
		assert_int_equal(acquisitions(&report, "shmem_inode_info.lock"),
				 cases[i].object_lock * FAULTS);
		assert_int_equal(acquisitions(&report, "tree_lock"), cases[i].tree_lock * FAULTS);
		assert_int_equal(acquisitions(&report, "shmem_limit_lock"), 0);
		vsmp_report_free(&report);
	}
}

static bool conflict_at(const struct vsmp_report *report, const char *name)
{
	for (size_t i = 0; i < report->conflict_count; i++)
		if (strstr(report->conflicts[i].name, name))
			return true;
	return false;
}

static uint64_t fault_conflicts(const struct vsmp_report *report)
{
	uint64_t conflicts = 0;

	for (size_t i = 0; i < report->conflict_count; i++) {
		const struct vsmp_conflict_row *row = &report->conflicts[i];

		if (strcmp(row->scope, "fault") && strcmp(row->other_scope, "fault"))
			continue;
		print_message("%s and %s conflict at %s, %llu lines\n", row->scope, row->other_scope,
			      row->name, (unsigned long long)row->lines);
		conflicts++;
	}
	return conflicts;
}

static void default_faults_never_meet(void **state)
{
	(void)state;
	for (int write = 0; write < 2; write++) {
		const struct run one = {"default", write ? SF_WRITE : SF_READ, 0, false};
		struct vsmp_report report;

		run(&one, &report);
		assert_int_equal(fault_conflicts(&report), 0);
		/* All that moves: frames, which come in batches and in a scope of their own; and each line of
		 * upper entries and nodes that a neighbour has filled, once. */
		assert_true(report.transfers * 20 <= report.operations);
		vsmp_report_free(&report);
	}
}

/* With a limit, CPUs meet at it in batches alone. */
static void a_limit_is_refilled_in_batches(void **state)
{
	const struct run one = {"default", SF_WRITE, CPUS * REGIONS * REGION, false};
	struct vsmp_report report;

	(void)state;
	run(&one, &report);
	assert_int_equal(fault_conflicts(&report), 0);
	assert_true(acquisitions(&report, "shmem_limit_lock") <= FAULTS / 31 + CPUS);
	assert_true(acquisitions(&report, "shmem_limit_lock") >= FAULTS / 32 - CPUS);
	vsmp_report_free(&report);
}

static void others_meet_where_they_should(void **state)
{
	static const struct {
		const char *policy, *at;
	} choices[] = {
	    {"default page_index=tree_lock", "tree_lock"},
	    {"default shmem_account=inode_lock", "struct shmem.lock"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const struct run one = {choices[i].policy, SF_WRITE, 0, false};
		struct vsmp_report report;

		run(&one, &report);
		if (!conflict_at(&report, choices[i].at)) {
			fault_conflicts(&report);
			fail_msg("%s: no conflict at %s", choices[i].policy, choices[i].at);
		}
		vsmp_report_free(&report);
	}
}

/* All CPUs want each page at about the same time: there is one of it, whoever made it. */
static void all_touch_the_same(void **state)
{
	static const char *const policies[] = {"default", "default page_index=tree_lock", "base_2010",
					       "base_2010 shmem_alloc=before",
					       "base_2010 shmem_alloc=before shmem_account=ramfs"};

	(void)state;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		const struct run one = {policies[i], SF_READ, 0, true};
		struct vsmp_report report;

		run(&one, &report);
		vsmp_report_free(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(locks_are_taken_as_often_as_they_should),
	    cmocka_unit_test(default_faults_never_meet),
	    cmocka_unit_test(a_limit_is_refilled_in_batches),
	    cmocka_unit_test(others_meet_where_they_should),
	    cmocka_unit_test(all_touch_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
