/* SPDX-License-Identifier: MIT */
/*
 * The call tree and the profile, from made-up entries and exits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "vsmp/observe/observe.h"

#define CPUS 5

/* Nobody calls these; their addresses are what an entry tells. */
#define FUNCTION(name)                                         \
	static __attribute__((noinline, used)) int name(int x) \
	{                                                      \
		return x * __LINE__ + (int)sizeof(#name);      \
	}
FUNCTION(alpha)
FUNCTION(beta)
FUNCTION(gamma_)
FUNCTION(delta)
FUNCTION(epsilon)
FUNCTION(zeta)

static int (*const function[])(int) = {alpha, beta, gamma_, delta, epsilon, zeta};
static const char *const function_name[] = {"alpha", "beta", "gamma_", "delta", "epsilon", "zeta"};

static void enter(unsigned cpu, unsigned index, uint64_t now, bool measuring)
{
	observe_enter(cpu, (const void *)(uintptr_t)function[index], now, measuring);
}

static const struct vsmp_profile_row *find_row(const struct vsmp_report *report, const char *symbol)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (!strcmp(report->profile[i].symbol, symbol))
			return &report->profile[i];
	return NULL;
}

static double caller_share(const struct vsmp_profile_row *row, const char *symbol)
{
	for (size_t i = 0; i < row->caller_count; i++)
		if (!strcmp(row->callers[i].symbol, symbol))
			return row->callers[i].percent;
	return 0;
}

static uint64_t stack_cycles(const struct vsmp_report *report, const char *path)
{
	for (size_t i = 0; i < report->stack_count; i++)
		if (!strcmp(report->stacks[i].path, path))
			return report->stacks[i].self_cycles;
	return 0;
}

static void assert_near(double left, double right)
{
	if (left - right > 1e-9 || right - left > 1e-9)
		fail_msg("%.12f is not %.12f", left, right);
}

/*
 *   time   0    10   30   40   70   80  100
 *   alpha  |----|         |----|         |
 *   beta        |----|    .    |----|
 *   alpha            |----|         |----     (called by beta: recursion)
 */
static void test_recursion_counts_once(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_profile_row *row;

	(void)state;
	assert_int_equal(observe_open(1, true, false, false, false), 0);
	enter(0, 0, 0, true);
	enter(0, 1, 10, true);
	enter(0, 0, 30, true);
	observe_exit(0, 40, true);
	observe_exit(0, 40, true);
	enter(0, 1, 70, true);
	enter(0, 0, 80, true);
	observe_mark(0, 100, true);
	assert_int_equal(observe_report(&report), 0);

	row = find_row(&report, "alpha");
	assert_non_null(row);
	assert_near(row->total_percent, 100);
	assert_near(row->self_percent, 70); /* 10 + 10 + 30 + 20 */
	assert_int_equal(row->caller_count, 0);
	row = find_row(&report, "beta");
	assert_non_null(row);
	assert_near(row->self_percent, 30);
	assert_near(row->total_percent, 60);
	assert_int_equal(row->caller_count, 1);
	assert_string_equal(row->callers[0].symbol, "alpha");
	assert_near(row->callers[0].percent, 100);
	assert_int_equal(report.stack_count, 3);
	assert_int_equal(stack_cycles(&report, "alpha"), 40);
	assert_int_equal(stack_cycles(&report, "alpha;beta"), 30);
	assert_int_equal(stack_cycles(&report, "alpha;beta;alpha"), 30);
	assert_int_equal(report.dropped, 0);
	observe_report_free(&report);
	observe_close();
}

/* Each unit has its own copy of an inline function: of one name, at different addresses. */
static void test_copies_of_a_function(void **state)
{
	const char *copy = (const char *)(uintptr_t)alpha;
	struct vsmp_report report = {0};

	(void)state;
	assert_int_equal(observe_open(1, true, false, false, false), 0);
	for (unsigned i = 0; i < 3; i++) {
		observe_enter(0, copy + i, 0, false);
		observe_enter(0, (const void *)(uintptr_t)beta, 0, false);
		observe_enter(0, copy + i / 2, 0, false);
		observe_mark(0, 5, true);
		observe_reset_stack(0);
		observe_mark(0, 0, false);
	}
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.stack_count, 1);
	assert_string_equal(report.stacks[0].path, "alpha;beta;alpha");
	assert_int_equal(report.stacks[0].self_cycles, 15);
	assert_int_equal(report.profile_count, 2);
	assert_near(find_row(&report, "alpha")->total_percent, 100);
	observe_report_free(&report);
	observe_close();
}

/* A window may begin and end deep in a stack; what is outside does not count. */
static void test_window_in_mid_stack(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	assert_int_equal(observe_open(2, true, false, false, false), 0);
	enter(1, 0, 1000, false);
	enter(1, 1, 2000, false);
	observe_mark(1, 2500, false);
	observe_exit(1, 2600, true);
	observe_mark(1, 2900, true);
	enter(1, 2, 5000, false);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.stack_count, 2);
	assert_string_equal(report.stacks[0].path, "alpha");
	assert_int_equal(report.stacks[0].self_cycles, 300);
	assert_string_equal(report.stacks[1].path, "alpha;beta");
	assert_int_equal(report.stacks[1].self_cycles, 100);
	assert_int_equal(report.profile_count, 2);
	observe_report_free(&report);
	observe_close();
}

/* More exits than entries, and time before the first entry. */
static void test_root(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_profile_row *row;

	(void)state;
	assert_int_equal(observe_open(1, true, false, false, false), 0);
	observe_exit(0, 10, true);
	observe_exit(0, 20, true);
	enter(0, 3, 25, true);
	observe_exit(0, 100, true);
	enter(0, 3, 100, true);
	observe_reset_stack(0);
	observe_exit(0, 100, true);
	assert_int_equal(observe_report(&report), 0);
	row = find_row(&report, "[no function]");
	assert_non_null(row);
	assert_near(row->self_percent, 25);
	assert_near(row->total_percent, 25);
	row = find_row(&report, "delta");
	assert_non_null(row);
	assert_near(row->total_percent, 75);
	assert_int_equal(row->caller_count, 0);
	assert_int_equal(stack_cycles(&report, "[no function]"), 25);
	observe_report_free(&report);
	observe_close();
}

static void test_nothing_measured(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	assert_int_equal(observe_open(1, true, true, true, true), 0);
	enter(0, 0, 5, false);
	observe_exit(0, 50, false);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.profile_count + report.stack_count + report.lock_count + report.line_count +
			     report.conflict_count,
			 0);
	observe_report_free(&report);
	observe_close();
}

/* With a profile and without. */
static void test_print_stack(void **state)
{
	(void)state;
	for (int profile = 0; profile <= 1; profile++) {
		char *text;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_non_null(out);
		assert_int_equal(observe_open(2, profile, false, false, false), 0);
		observe_exit(1, 0, false);
		observe_print_stack(1, out, "> ");
		enter(1, 4, 0, false);
		enter(1, 5, 0, false);
		observe_enter(1, (const void *)16, 0, false);
		enter(0, 3, 0, false);
		observe_print_stack(1, out, "  ");
		observe_exit(1, 0, false);
		observe_print_stack(1, out, "- ");
		observe_reset_stack(1);
		observe_print_stack(1, out, "> ");
		fclose(out);
		assert_string_equal(text, "> [no function]\n  0x10\n  zeta\n  epsilon\n- zeta\n- epsilon\n"
					  "> [no function]\n");
		free(text);
		observe_close();
	}
}

/* Without a profile a stack keeps its outermost functions, and counts those within. */
static void test_print_deep_stack(void **state)
{
	char *text;
	size_t bytes, lines = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(out);
	assert_int_equal(observe_open(1, false, false, false, false), 0);
	for (unsigned i = 0; i < 1000; i++)
		enter(0, i < 10 ? 4 : 5, 0, false);
	observe_print_stack(0, out, "  ");
	for (unsigned i = 0; i < 990; i++)
		observe_exit(0, 0, false);
	observe_print_stack(0, out, "- ");
	fclose(out);
	assert_memory_equal(text, "  [744 deeper]\n  zeta\n", 22);
	for (const char *line = strstr(text, "- "); line; line = strstr(line + 1, "- epsilon\n"))
		lines++;
	assert_int_equal(lines, 10);
	free(text);
	observe_close();
}

/* A stack deeper than a path tells, and no deeper recursion in the report itself. */
static void test_deep(void **state)
{
	struct vsmp_report report = {0};
	const unsigned depth = 100000;

	(void)state;
	assert_int_equal(observe_open(1, true, false, false, false), 0);
	for (unsigned i = 0; i < depth; i++)
		enter(0, i % 2, 0, true);
	observe_exit(0, 7, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.stack_count, 1);
	assert_memory_equal(report.stacks[0].path, "[deeper];", 9);
	assert_int_equal(report.profile_count, 2);
	assert_near(find_row(&report, "alpha")->total_percent, 100);
	observe_report_free(&report);
	observe_close();
}

/* --- Against a naive reckoning ------------------------------------------------------------------------- */

#define DEPTH_MAX 12
#define SPANS     20000

/* A stretch of time with the whole stack of its CPU, outermost first. */
struct span {
	unsigned depth;
	uint8_t stack[DEPTH_MAX];
	uint64_t cycles;
};

static struct span *spans;
static size_t span_count;

static void note_span(const uint8_t *stack, unsigned depth, uint64_t cycles)
{
	struct span *span = &spans[span_count++];

	span->depth = depth;
	memcpy(span->stack, stack, depth);
	span->cycles = cycles;
}

static void make_events(struct random *random)
{
	uint8_t stack[CPUS][DEPTH_MAX];
	unsigned depth[CPUS] = {0};
	uint64_t clock[CPUS] = {0};
	bool measuring[CPUS] = {false};

	for (span_count = 0; span_count < SPANS;) {
		unsigned cpu = (unsigned)random_below(random, CPUS);
		uint64_t step = random_below(random, 50);
		unsigned what = (unsigned)random_below(random, 100);

		clock[cpu] += step;
		if (measuring[cpu])
			note_span(stack[cpu], depth[cpu], step);
		if (what < 4) {
			observe_mark(cpu, clock[cpu], measuring[cpu]);
			measuring[cpu] = !measuring[cpu];
		} else if (what < 5) {
			observe_mark(cpu, clock[cpu], measuring[cpu]);
			observe_reset_stack(cpu);
			depth[cpu] = 0;
		} else if (depth[cpu] < DEPTH_MAX && what < 52) {
			unsigned index = (unsigned)random_below(random, ARRAY_SIZE(function));

			enter(cpu, index, clock[cpu], measuring[cpu]);
			stack[cpu][depth[cpu]++] = (uint8_t)index;
		} else {
			observe_exit(cpu, clock[cpu], measuring[cpu]);
			depth[cpu] -= depth[cpu] > 0;
		}
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		observe_mark(cpu, clock[cpu], measuring[cpu]);
}

struct reckoning {
	uint64_t all, self[8], total[8], called[8][8];
};

static void reckon(struct reckoning *reckoning)
{
	memset(reckoning, 0, sizeof(*reckoning));
	for (size_t i = 0; i < span_count; i++) {
		const struct span *span = &spans[i];
		bool seen[8] = {false};

		reckoning->all += span->cycles;
		if (span->depth)
			reckoning->self[span->stack[span->depth - 1]] += span->cycles;
		for (unsigned level = 0; level < span->depth; level++) {
			unsigned index = span->stack[level];

			if (seen[index])
				continue;
			seen[index] = true;
			reckoning->total[index] += span->cycles;
			if (level)
				reckoning->called[index][span->stack[level - 1]] += span->cycles;
		}
	}
}

static uint64_t reckon_path(const char *path)
{
	uint64_t cycles = 0;

	for (size_t i = 0; i < span_count; i++) {
		char text[DEPTH_MAX * 16] = "";

		for (unsigned level = 0; level < spans[i].depth; level++) {
			strcat(text, level ? ";" : "");
			strcat(text, function_name[spans[i].stack[level]]);
		}
		if (!strcmp(spans[i].depth ? text : "[no function]", path))
			cycles += spans[i].cycles;
	}
	return cycles;
}

static void compare(const struct vsmp_report *report, const struct reckoning *reckoning,
		    struct random *random)
{
	uint64_t cycles = 0;

	for (unsigned index = 0; index < ARRAY_SIZE(function); index++) {
		const struct vsmp_profile_row *row = find_row(report, function_name[index]);

		assert_non_null(row);
		assert_near(row->self_percent,
			    100.0 * (double)reckoning->self[index] / (double)reckoning->all);
		assert_near(row->total_percent,
			    100.0 * (double)reckoning->total[index] / (double)reckoning->all);
		for (unsigned from = 0; from < ARRAY_SIZE(function); from++)
			assert_near(caller_share(row, function_name[from]),
				    100.0 * (double)reckoning->called[index][from] /
					(double)reckoning->total[index]);
	}
	for (size_t i = 0; i < report->stack_count; i++)
		cycles += report->stacks[i].self_cycles;
	assert_int_equal(cycles, reckoning->all);
	for (unsigned i = 0; i < 100; i++) {
		const struct vsmp_stack_row *row = &report->stacks[random_below(random, report->stack_count)];

		assert_int_equal(row->self_cycles, reckon_path(row->path));
	}
	for (size_t i = 1; i < report->stack_count; i++)
		assert_true(report->stacks[i - 1].self_cycles > report->stacks[i].self_cycles ||
			    (report->stacks[i - 1].self_cycles == report->stacks[i].self_cycles &&
			     strcmp(report->stacks[i - 1].path, report->stacks[i].path) < 0));
	for (size_t i = 1; i < report->profile_count; i++)
		assert_true(report->profile[i - 1].self_percent >= report->profile[i].self_percent);
}

static void test_against_naive(void **state)
{
	(void)state;
	spans = calloc(SPANS + 1, sizeof(*spans));
	assert_non_null(spans);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct vsmp_report report = {0};
		struct reckoning reckoning;
		struct random random;

		print_message("seed %llu\n", (unsigned long long)seed);
		random_seed(&random, seed);
		assert_int_equal(observe_open(CPUS, true, false, false, false), 0);
		make_events(&random);
		reckon(&reckoning);
		assert_int_equal(observe_report(&report), 0);
		compare(&report, &reckoning, &random);
		observe_report_free(&report);
		observe_close();
	}
	free(spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recursion_counts_once), cmocka_unit_test(test_copies_of_a_function),
	    cmocka_unit_test(test_window_in_mid_stack),   cmocka_unit_test(test_root),
	    cmocka_unit_test(test_nothing_measured),      cmocka_unit_test(test_print_stack),
	    cmocka_unit_test(test_print_deep_stack),      cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_against_naive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
