/* SPDX-License-Identifier: MIT */
/*
 * Anonymous faults on the virtual machine: with the default policy, faults in different 2 MiB regions of one
 * VMA touch no line that another writes. With the semaphore they all meet at it.
 */
#include "tests/vsmp/fixture.h"

#include <errno.h>
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

static struct sf_system *memory_system;
static struct sf_space *space;
static const char *policy_name;
static enum sf_access access;

static void set_up(void *argument)
{
	struct system_config config = {.own_frames = 65536, .structure_only = true};
	uint64_t mapped;

	(void)argument;
	assert_int_equal(policy_parse(&config.policy, policy_name, NULL), 0);
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	assert_int_equal(sf_space_create(memory_system, &space), 0);
	assert_int_equal(sf_map(space, BASE, CPUS * REGIONS * REGION, SF_PROT_READ | SF_PROT_WRITE,
				SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
}

static uint64_t address_of(unsigned cpu, unsigned region, unsigned page)
{
	return BASE + (cpu * REGIONS + region) * REGION + page * PAGE;
}

static void touch_own(unsigned cpu, void *argument)
{
	(void)argument;
	/* The page tables, the VMA's anon, the CPU's bit in the space. */
	for (unsigned region = 0; region < REGIONS; region++)
		assert_int_equal(sf_touch(space, address_of(cpu, region, 0), access, NULL), 0);
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned page = 1; page < PAGES; page++) {
		for (unsigned region = 0; region < REGIONS; region++) {
			assert_int_equal(sf_touch(space, address_of(cpu, region, page), access, NULL), 0);
			vsmp_count_operations(1);
		}
	}
	vsmp_measure_end();
}

static void tear_down(void *argument)
{
	struct message why = {""};

	(void)argument;
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	sf_space_destroy(space);
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	system_destroy(memory_system);
}

static void run(const char *policy, enum sf_access how, struct vsmp_report *report)
{
	struct message why = {""};

	policy_name = policy;
	access = how;
	fixture_create(4, 16, 1, CPUS, 5);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(touch_own, NULL, 1000, &why))
		fail_msg("%s", why.text);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->dropped, 0);
	assert_int_equal(report->operations, CPUS * REGIONS * (PAGES - 1));
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
}

static bool conflict_at(const struct vsmp_report *report, const char *name)
{
	for (size_t i = 0; i < report->conflict_count; i++)
		if (strstr(report->conflicts[i].name, name))
			return true;
	return false;
}

static uint64_t fault_conflicts(const struct vsmp_report *report, bool say)
{
	uint64_t conflicts = 0;

	for (size_t i = 0; i < report->conflict_count; i++) {
		const struct vsmp_conflict_row *row = &report->conflicts[i];

		if (strcmp(row->scope, "fault") && strcmp(row->other_scope, "fault"))
			continue;
		if (say)
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
		struct vsmp_report report;

		run("default", write ? SF_WRITE : SF_READ, &report);
		assert_int_equal(fault_conflicts(&report, true), 0);
		/* All that moves: frames, which come in batches and in a scope of their own; and each line of
		 * upper entries that a neighbour has filled, once. */
		assert_true(report.transfers * 20 <= report.operations);
		vsmp_report_free(&report);
	}
}

static void others_meet_where_they_should(void **state)
{
	static const struct {
		const char *policy, *at;
	} choices[] = {
	    {"default vma_lookup=rwsem_spin", "lock.wait_lock"},
	    {"default vma_lookup=rwsem_xadd", "lock.state"},
	    {"default vma_lookup=refcount", "struct vma.users"},
	    {"default vma_lookup=per_vma", "struct vma.users"},
	    {"default page_table_lock=mm", "table.lock"},
	    {"default frame_cache=zone", "zone"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		struct vsmp_report report;

		run(choices[i].policy, SF_WRITE, &report);
		if (!conflict_at(&report, choices[i].at)) {
			fault_conflicts(&report, true);
			fail_msg("%s: no conflict at %s", choices[i].policy, choices[i].at);
		}
		vsmp_report_free(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(default_faults_never_meet),
	    cmocka_unit_test(others_meet_where_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
