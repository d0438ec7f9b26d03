/* SPDX-License-Identifier: MIT */
/*
 * Faults on pages in swap, on the virtual machine: in different 2 MiB regions of one VMA they touch no line
 * that another writes, but where they take what is handed out in batches.
 */
#include "tests/vsmp/fixture.h"

#include <string.h>

#include "mm/system/system.h"

#define CPUS   64u
#define PAGE   SF_PAGE_SIZE
#define REGION ((uint64_t)512 * PAGE)
#define BASE   ((uint64_t)1 << 32)
#define PAGES  128u /* that each CPU has swapped out: whole clusters of slots, and windows of read-ahead */

static struct sf_system *memory_system;
static struct sf_space *space;
static enum sf_access access;
static struct sf_swap_statistics statistics;

static uint64_t address_of(unsigned cpu, unsigned page)
{
	return BASE + cpu * REGION + page * PAGE;
}

static void set_up(void *argument)
{
	struct system_config config = {.own_frames = 65536, .structure_only = true};
	uint64_t mapped;

	(void)argument;
	assert_int_equal(policy_parse(&config.policy, "default", NULL), 0);
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	assert_int_equal(sf_swap_add_memory(memory_system, (uint64_t)CPUS * 1024 * PAGE, 0), 0);
	assert_int_equal(sf_space_create(memory_system, &space), 0);
	assert_int_equal(sf_map(space, BASE, CPUS * REGION, SF_PROT_READ | SF_PROT_WRITE,
				SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
}

static void swap_in_own(unsigned cpu, void *argument)
{
	(void)argument;
	for (unsigned page = 0; page < PAGES; page++)
		assert_int_equal(sf_touch(space, address_of(cpu, page), SF_WRITE, NULL), 0);
	assert_int_equal(sf_advise(space, address_of(cpu, 0), PAGES * PAGE, SF_ADVICE_PAGEOUT), 0);
	vsmp_barrier();
	/* A window, for what is made once. */
	assert_int_equal(sf_touch(space, address_of(cpu, 0), access, NULL), 0);
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned page = 1; page < PAGES; page++) {
		assert_int_equal(sf_touch(space, address_of(cpu, page), access, NULL), 0);
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
	sf_swap_statistics(memory_system, &statistics);
	sf_space_destroy(space);
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	system_destroy(memory_system);
}

static void run(enum sf_access how, struct vsmp_report *report)
{
	struct message why = {""};

	access = how;
	fixture_create(4, 16, 1, CPUS, 5);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(swap_in_own, NULL, 1000, &why))
		fail_msg("%s", why.text);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->dropped, 0);
	assert_int_equal(report->operations, CPUS * (PAGES - 1));
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
	print_message("%.4f transfers a page, %llu read and %llu with them\n",
		      (double)report->transfers / (double)report->operations,
		      (unsigned long long)statistics.read, (unsigned long long)statistics.ahead);
}

static void swapping_in_never_meets(void **state)
{
	(void)state;
	for (int write = 0; write < 2; write++) {
		struct vsmp_report report;
		unsigned conflicts = 0;

		run(write ? SF_WRITE : SF_READ, &report);
		/* All was out, and came back in windows of eight. */
		assert_int_equal(statistics.read + statistics.ahead, CPUS * PAGES);
		assert_true(statistics.read * 7 <= statistics.ahead);
		for (size_t i = 0; i < report.conflict_count; i++) {
			const struct vsmp_conflict_row *row = &report.conflicts[i];

			if (strcmp(row->scope, "fault") && strcmp(row->other_scope, "fault"))
				continue;
			print_message("%s and %s conflict at %s, %llu lines\n", row->scope, row->other_scope,
				      row->name, (unsigned long long)row->lines);
			conflicts++;
		}
		assert_int_equal(conflicts, 0);
		assert_true(report.transfers * 5 <= report.operations);
		vsmp_report_free(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(swapping_in_never_meets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
