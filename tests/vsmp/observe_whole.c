/* SPDX-License-Identifier: MIT */
/*
 * All observers at once, fed by a program that runs on the machine: the reports name what the program does,
 * and two runs give the same text.
 */
#include "tests/vsmp/fixture.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/trace.h"
#include "sync/spinlock.h"

#define CPUS   8u
#define ROUNDS 200u

/* A line that all share, one that they only seem to, and a line each. */
static struct whole {
	CACHE_LINE_ALIGNED struct spinlock lock;
	CACHE_LINE_ALIGNED uint64_t guarded;
	CACHE_LINE_ALIGNED _Atomic uint32_t near[CPUS];
	struct {
		CACHE_LINE_ALIGNED _Atomic uint64_t count;
	} own[CPUS];
} whole;

static void add_guarded(void)
{
	spin_lock(&whole.lock);
	whole.guarded++;
	spin_unlock(&whole.lock);
}

static void add_near(unsigned cpu)
{
	atomic_fetch_add_explicit(&whole.near[cpu], 1, memory_order_relaxed);
}

static void add_own(unsigned cpu)
{
	atomic_fetch_add_explicit(&whole.own[cpu].count, 1, memory_order_relaxed);
}

static void body(unsigned cpu, void *argument)
{
	(void)argument;
	vsmp_measure_begin();
	for (unsigned round = 0; round < ROUNDS; round++) {
		port_scope_begin("operation");
		add_guarded();
		add_near(cpu);
		add_own(cpu);
		port_scope_end();
	}
	vsmp_measure_end();
}

static void run(struct vsmp_report *report)
{
	struct message why = {""};

	memset(&whole, 0, sizeof(whole));
	spin_lock_init(&whole.lock, (enum lock_rank)0);
	fixture_create(2, CPUS / 2, 1, CPUS, 7);
	assert_int_equal(vsmp_run(body, NULL, 100, &why), 0);
	assert_int_equal(vsmp_report(report), 0);
	vsmp_destroy();
	assert_int_equal(whole.guarded, CPUS * ROUNDS);
	assert_int_equal(report->dropped, 0);
}

static void test_profile(void **state)
{
	struct vsmp_report report = {0};
	double self = 0;

	(void)state;
	run(&report);
	for (size_t i = 0; i < report.profile_count; i++)
		self += report.profile[i].self_percent;
	assert_true(self > 99.999 && self < 100.001);
	assert_true(fixture_symbol(&report, "body")->total_percent > 99);
	assert_true(fixture_symbol(&report, "add_guarded")->total_percent >
		    fixture_symbol(&report, "add_near")->total_percent);
	assert_true(fixture_symbol(&report, "add_near")->total_percent >
		    fixture_symbol(&report, "add_own")->total_percent);
	assert_string_equal(fixture_symbol(&report, "spin_lock")->callers[0].symbol, "add_guarded");
	vsmp_report_free(&report);
}

static void test_locks(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_lock_row *row;

	(void)state;
	run(&report);
	assert_int_equal(report.lock_count, 1);
	row = &report.locks[0];
	assert_string_equal(row->name, lock_rank_name[0]);
	assert_int_equal(row->acquisitions, CPUS * ROUNDS);
	assert_true(row->contentions > 0 && row->contentions < row->acquisitions);
	assert_int_equal(row->site_count, 1);
	assert_string_equal(row->sites[0].symbol, "add_guarded");
	assert_int_equal(row->sites[0].contentions, row->contentions);
	assert_true(row->wait_min_cycles <= row->wait_max_cycles);
	assert_true(row->wait_total_cycles <= row->wait_max_cycles * row->contentions);
	assert_true(row->hold_total_cycles >= row->hold_min_cycles * row->acquisitions);
	vsmp_report_free(&report);
}

static const struct vsmp_line_row *find_line(const struct vsmp_report *report, const char *part)
{
	for (size_t i = 0; i < report->line_count; i++)
		if (strstr(report->lines[i].name, part))
			return &report->lines[i];
	return NULL;
}

static void test_lines(void **state)
{
	struct vsmp_report report = {0};
	uint64_t transfers = 0;

	(void)state;
	run(&report);
	for (size_t i = 0; i < report.line_count; i++)
		transfers += report.lines[i].transfers;
	assert_int_equal(transfers, report.transfers);
	assert_non_null(find_line(&report, "lock.ticket.owner"));
	assert_non_null(find_line(&report, "guarded"));
	assert_non_null(find_line(&report, "near[]"));
	assert_int_equal(find_line(&report, "near[]")->writers, CPUS);
	assert_string_equal(find_line(&report, "near[]")->sites[0].symbol, "add_near");
	assert_null(find_line(&report, "own[]"));
	vsmp_report_free(&report);
}

static void test_conflicts(void **state)
{
	struct vsmp_report report = {0};
	bool near = false, guarded = false;

	(void)state;
	run(&report);
	for (size_t i = 0; i < report.conflict_count; i++) {
		const struct vsmp_conflict_row *row = &report.conflicts[i];

		assert_string_equal(row->scope, "operation");
		assert_string_equal(row->other_scope, "operation");
		assert_null(strstr(row->name, "own[]"));
		if (strstr(row->name, "near[]")) {
			assert_false(row->true_sharing);
			near = true;
		} else {
			assert_true(row->true_sharing);
		}
		guarded = guarded || strstr(row->name, "guarded");
		assert_int_equal(row->lines, 1);
		assert_true(row->transfers > 0);
	}
	assert_true(near && guarded);
	assert_int_equal(report.conflict_count, 3);
	vsmp_report_free(&report);
}

/* Every number and name of a report as text. */
static char *print(const struct vsmp_report *report)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	for (size_t i = 0; i < report->profile_count; i++) {
		const struct vsmp_profile_row *row = &report->profile[i];

		fprintf(out, "%s %.17g %.17g\n", row->symbol, row->self_percent, row->total_percent);
		for (size_t j = 0; j < row->caller_count; j++)
			fprintf(out, " %s %.17g\n", row->callers[j].symbol, row->callers[j].percent);
	}
	for (size_t i = 0; i < report->stack_count; i++)
		fprintf(out, "%s %" PRIu64 "\n", report->stacks[i].path, report->stacks[i].self_cycles);
	for (size_t i = 0; i < report->lock_count; i++) {
		const struct vsmp_lock_row *row = &report->locks[i];

		fprintf(out, "%s %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", row->name, row->shared,
			row->acquisitions, row->wait_total_cycles, row->hold_total_cycles);
	}
	for (size_t i = 0; i < report->line_count; i++) {
		const struct vsmp_line_row *row = &report->lines[i];

		fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", row->name,
			row->lines, row->transfers, row->invalidations, row->wait_cycles, row->readers,
			row->writers);
		for (size_t j = 0; j < row->site_count; j++)
			fprintf(out, " %s %d %" PRIu64 "\n", row->sites[j].symbol, row->sites[j].writes,
				row->sites[j].transfers);
	}
	for (size_t i = 0; i < report->conflict_count; i++) {
		const struct vsmp_conflict_row *row = &report->conflicts[i];

		fprintf(out, "%s %s %s %d %" PRIu64 " %" PRIu64 "\n", row->scope, row->other_scope, row->name,
			row->true_sharing, row->lines, row->transfers);
	}
	fclose(out);
	return text;
}

static void test_same_text(void **state)
{
	struct vsmp_report report = {0};
	char *first, *second;

	(void)state;
	run(&report);
	first = print(&report);
	vsmp_report_free(&report);
	run(&report);
	second = print(&report);
	vsmp_report_free(&report);
	assert_string_equal(first, second);
	if (getenv("OBSERVE_PRINT"))
		fputs(first, stdout);
	free(first);
	free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_profile),   cmocka_unit_test(test_locks),     cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_conflicts), cmocka_unit_test(test_same_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
