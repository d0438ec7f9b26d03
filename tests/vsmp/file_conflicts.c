/* SPDX-License-Identifier: MIT */
/*
 * Files on the virtual machine: first writes to clean pages of one file, in different 2 MiB of it, touch no
 * line that another of them writes, though each makes its page dirty for write-back to find.
 */
#include "tests/vsmp/fixture.h"

#include <stdio.h>
#include <string.h>

#include "mm/system/system.h"

#define CPUS    32u
#define PAGE    SF_PAGE_SIZE
#define REGION  ((uint64_t)512 * PAGE)
#define BASE    ((uint64_t)1 << 32)
#define REGIONS 2u /* of each CPU, of which it writes to so many pages */
#define PAGES   48u

static struct sf_system *memory_system;
static struct sf_space *space;
static struct sf_object *object;
static const char *policy_name;
static uint64_t written;

static int end_transfer(struct sf_backing *backing, struct sf_io *io)
{
	(void)backing;
	sf_io_done(io, 0);
	return 0;
}

static int count_pages(struct sf_backing *backing, struct sf_io *io)
{
	written += io->count;
	return end_transfer(backing, io);
}

static void release(struct sf_backing *backing)
{
	(void)backing;
}

static const struct sf_backing_ops ops = {.read = end_transfer, .write = count_pages, .release = release};
static struct sf_backing backing = {.ops = &ops, .bytes = CPUS * REGIONS * REGION};

static uint64_t offset_of(unsigned cpu, unsigned region, unsigned page)
{
	return (cpu * REGIONS + region) * REGION + page * PAGE;
}

static void set_up(void *argument)
{
	struct system_config config = {.own_frames = 16384};
	uint64_t mapped;
	char byte;

	(void)argument;
	assert_int_equal(policy_parse(&config.policy, policy_name, NULL), 0);
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	assert_int_equal(sf_space_create(memory_system, &space), 0);
	assert_int_equal(sf_file_open(memory_system, &backing, &object), 0);
	assert_int_equal(sf_map_object(space, BASE, backing.bytes, SF_PROT_READ | SF_PROT_WRITE,
				       SF_MAP_SHARED | SF_MAP_FIXED, object, 0, &mapped),
			 0);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		for (unsigned region = 0; region < REGIONS; region++)
			for (unsigned page = 0; page < PAGES; page++)
				assert_int_equal(
				    sf_object_read(object, offset_of(cpu, region, page), &byte, 1), 1);
}

static void write_own(unsigned cpu, void *argument)
{
	(void)argument;
	for (unsigned page = 0; page < PAGES; page++)
		for (unsigned region = 0; region < REGIONS; region++)
			assert_int_equal(sf_touch(space, BASE + offset_of(cpu, region, page), SF_READ, NULL),
					 0);
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned page = 0; page < PAGES; page++)
		for (unsigned region = 0; region < REGIONS; region++) {
			assert_int_equal(sf_touch(space, BASE + offset_of(cpu, region, page), SF_WRITE, NULL),
					 0);
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
	written = 0;
	while (sf_write_back(memory_system, 100 * PAGE))
		;
	assert_int_equal(written, CPUS * REGIONS * PAGES);
	sf_space_destroy(space);
	sf_object_close(object);
	port_rcu_barrier();
	system_destroy(memory_system);
}

static void run(const char *policy, struct vsmp_report *report)
{
	struct message why = {""};

	policy_name = policy;
	fixture_create(4, CPUS / 4, 1, CPUS, 5);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(write_own, NULL, 1000, &why))
		fail_msg("%s", why.text);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->dropped, 0);
	assert_int_equal(report->operations, CPUS * REGIONS * PAGES);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
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

static void first_writes_never_meet(void **state)
{
	struct vsmp_report report;

	(void)state;
	run("default", &report);
	assert_int_equal(fault_conflicts(&report), 0);
	vsmp_report_free(&report);
}

/* The test can tell: with one lock for each space they do. */
static void with_a_lock_they_meet(void **state)
{
	struct vsmp_report report;

	(void)state;
	run("default page_table_lock=mm", &report);
	assert_true(fault_conflicts(&report) > 0);
	vsmp_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(first_writes_never_meet),
	    cmocka_unit_test(with_a_lock_they_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
