/* SPDX-License-Identifier: MIT */
/*
 * Conflicts between scopes, from made-up accesses.
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
#include "port/memory.h"
#include "tests/vsmp/fixture.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"

#define CPUS 40

/* One line. */
struct eight {
	uint64_t a, b, c, d, e, f, g, h;
};

static const char fault[] = "fault", refill[] = "refill", unmap[] = "unmap";
static struct eight *array;

static void open_machine(void)
{
	fixture_create(1, CPUS, 1, CPUS, 1);
	array = port_memory_alloc(1024 * sizeof(*array), PORT_NODE_FIRST_TOUCH, "struct eight");
	assert_non_null(array);
}

static void access_field(unsigned cpu, const char *scope, const void *address, bool write, bool transferred)
{
	observe_access(cpu, scope, line_number(line_of((uintptr_t)address)),
		       (unsigned)((uintptr_t)address % CACHE_LINE_BYTES), 8, write, transferred);
}

static void assert_row(const struct vsmp_conflict_row *row, const char *scope, const char *other_scope,
		       const char *name, int true_sharing, uint64_t lines, uint64_t transfers)
{
	assert_string_equal(row->scope, scope);
	assert_string_equal(row->other_scope, other_scope);
	assert_string_equal(row->name, name);
	assert_int_equal(row->true_sharing, true_sharing);
	assert_int_equal(row->lines, lines);
	assert_int_equal(row->transfers, transfers);
}

/* Reading together is no conflict, nor is what one CPU does alone, in whatever scopes. */
static void test_no_conflict(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	open_machine();
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		access_field(cpu, fault, &array[0].a, false, true);
		access_field(cpu, unmap, &array[0].b, false, true);
		access_field(cpu, fault, &array[1 + cpu].a, true, true);
		access_field(cpu, unmap, &array[1 + cpu].a, true, true);
		access_field(cpu, refill, &array[1 + cpu].b, false, true);
	}
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 0);
	observe_report_free(&report);
	vsmp_destroy();
}

static void test_true_sharing(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	open_machine();
	access_field(0, fault, &array[0].c, true, false);
	access_field(1, unmap, &array[0].c, false, true);
	access_field(0, fault, &array[0].c, true, true);
	access_field(1, unmap, &array[0].d, false, true); /* a neighbour, but the line is truly shared */
	access_field(3, refill, &array[9].a, true, false);
	access_field(5, refill, &array[9].a, true, true);
	access_field(3, refill, &array[9].a, true, true);
	access_field(5, refill, &array[9].a, true, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 2);
	/* The move for d comes from c's writer. */
	assert_row(&report.conflicts[0], "fault", "unmap", "struct eight.c", 1, 1, 3);
	assert_row(&report.conflicts[1], "refill", "refill", "struct eight.a", 1, 1, 3);
	observe_report_free(&report);
	vsmp_destroy();
}

static void test_false_sharing(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	open_machine();
	for (unsigned i = 0; i < 10; i++) {
		access_field(0, fault, &array[i].b, true, false);
		access_field(1, fault, &array[i].e, false, true);
		access_field(0, fault, &array[i].b, true, true);
	}
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 1);
	assert_row(&report.conflicts[0], "fault", "fault", "struct eight.b+e", 0, 10, 20);
	observe_report_free(&report);
	vsmp_destroy();
}

/* Scopes of one name are one scope, wherever the name stands. */
static void test_scope_names(void **state)
{
	struct vsmp_report report = {0};
	char again[] = "fault", other[] = "a scope";

	(void)state;
	open_machine();
	access_field(0, fault, &array[0].a, true, false);
	access_field(1, again, &array[0].a, true, true);
	access_field(1, other, &array[1].a, true, true);
	access_field(0, fault, &array[1].a, true, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 2);
	assert_row(&report.conflicts[0], "a scope", "fault", "struct eight.a", 1, 1, 1);
	assert_row(&report.conflicts[1], "fault", "fault", "struct eight.a", 1, 1, 1);
	observe_report_free(&report);
	vsmp_destroy();
}

/* A new life meets nothing of the old one; what the old one had shown stays. */
static void test_forget(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	open_machine();
	access_field(0, fault, &array[0].a, true, false);
	access_field(0, fault, &array[1].a, true, false);
	access_field(1, fault, &array[1].a, false, true);
	observe_forget(line_number(line_of((uintptr_t)array)), 64);
	access_field(2, fault, &array[0].a, true, true);
	access_field(3, unmap, &array[1].a, true, true);
	observe_forget(line_number(line_of((uintptr_t)array)), 1u << 30);
	access_field(4, unmap, &array[0].a, true, true);
	access_field(1, unmap, &array[1].b, true, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 1);
	assert_row(&report.conflicts[0], "fault", "fault", "struct eight.a", 1, 1, 1);
	observe_report_free(&report);
	vsmp_destroy();
}

/* A line whose lives fall into one row is one line. */
static void test_lives_of_one_name(void **state)
{
	const char *const types[] = {NULL, "[memory without a type]"};
	struct vsmp_report report = {0};

	(void)state;
	open_machine();
	for (unsigned life = 0; life < ARRAY_SIZE(types); life++) {
		void *memory = port_memory_alloc(192, PORT_NODE_FIRST_TOUCH, types[life]);

		access_field(life, fault, memory, true, false);
		access_field(3, fault, memory, true, true);
		port_memory_free(memory, 192);
	}
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 1);
	assert_row(&report.conflicts[0], "fault", "fault", "[memory without a type]", 1, 1, 2);
	observe_report_free(&report);
	vsmp_destroy();
}

static void test_report_twice(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	open_machine();
	access_field(0, fault, &array[0].a, true, false);
	access_field(1, fault, &array[0].b, true, true);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(observe_report(&report), 0);
		assert_int_equal(report.conflict_count, 1);
		assert_row(&report.conflicts[0], "fault", "fault", "struct eight.b+a", 0, 1, 1);
		observe_report_free(&report);
	}
	access_field(0, fault, &array[0].b, true, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.conflict_count, 1);
	assert_row(&report.conflicts[0], "fault", "fault", "struct eight.b", 1, 1, 2);
	observe_report_free(&report);
	vsmp_destroy();
}

/* --- Against a naive reckoning ------------------------------------------------------------------------- */

#define LINES  24
#define STEPS  3000
#define SCOPES 3
#define FIELDS 8

static const char *const scope_name[SCOPES] = {"a", "b", "c"};

struct event {
	unsigned cpu, scope, line, field, life;
	bool write, transferred;
};

static struct event events[STEPS];
static size_t event_count;

/* A pair of scopes on one line, over all its lives. */
struct meeting {
	bool conflict, same[FIELDS], near[FIELDS];
	uint64_t transfers[FIELDS];
};

/*
 * Few CPUs use a line, some lines are nearly read-only, and some fields belong to one CPU, so that all kinds
 * of sharing come up, none too.
 */
static void make_events(struct random *random)
{
	unsigned life[LINES] = {0};

	for (event_count = 0; event_count < STEPS;) {
		struct event event = {.line = (unsigned)random_below(random, LINES)};
		unsigned mode = event.line % 6;

		if (random_below(random, 300) == 0) {
			observe_forget(line_number(line_of((uintptr_t)&array[event.line])), 1);
			life[event.line]++;
			continue;
		}
		event.cpu = (unsigned)random_below(random, mode < 2 ? 2 : mode < 4 ? 5 : CPUS);
		event.scope = (unsigned)random_below(random, mode == 0 ? 1 : SCOPES);
		event.field = (unsigned)random_below(random, FIELDS);
		event.write = random_below(random, mode % 2 ? 3 : 40) == 0;
		if (mode == 1 || mode == 2)
			event.field = event.cpu % FIELDS;
		event.transferred = random_below(random, 2);
		event.life = life[event.line];
		access_field(event.cpu, scope_name[event.scope], &(&array[event.line].a)[event.field],
			     event.write, event.transferred);
		events[event_count++] = event;
	}
}

static bool same_line_and_life(const struct event *a, const struct event *b)
{
	return a->line == b->line && a->life == b->life;
}

/* Who the line came from: its last writer, or else, for a write, the last other CPU that read since. */
static const struct event *find_source(size_t index)
{
	const struct event *event = &events[index], *reader = NULL;

	while (index-- > 0) {
		const struct event *earlier = &events[index];

		if (!same_line_and_life(earlier, event))
			continue;
		if (earlier->write && earlier->cpu != event->cpu)
			return earlier;
		if (earlier->write)
			break;
		if (!reader && earlier->cpu != event->cpu)
			reader = earlier;
	}
	return event->write ? reader : NULL;
}

/*
 * A transfer counts in the pair of scopes even if the line was private when it came, so the first transfers
 * of a private line have no source in either reckoning.
 */
static void reckon(unsigned line, struct meeting meetings[SCOPES][SCOPES])
{
	memset(meetings, 0, sizeof(struct meeting) * SCOPES * SCOPES);
	for (size_t i = 0; i < event_count; i++) {
		const struct event *b = &events[i], *source;

		if (b->line != line)
			continue;
		source = b->transferred ? find_source(i) : NULL;
		if (source) {
			unsigned low = b->scope < source->scope ? b->scope : source->scope;
			unsigned high = b->scope < source->scope ? source->scope : b->scope;

			meetings[low][high].transfers[b->field]++;
		}
		for (size_t j = 0; j < i; j++) {
			const struct event *a = &events[j];
			unsigned low = a->scope < b->scope ? a->scope : b->scope;
			unsigned high = a->scope < b->scope ? b->scope : a->scope;
			struct meeting *meeting = &meetings[low][high];

			if (!same_line_and_life(a, b) || a->cpu == b->cpu || !(a->write || b->write))
				continue;
			meeting->conflict = true;
			meeting->near[a->field] = meeting->near[b->field] = true;
			if (a->field == b->field)
				meeting->same[a->field] = true;
		}
	}
}

struct expected {
	unsigned low, high;
	int true_sharing;
	unsigned main_field;
	uint64_t lines, transfers;
	uint64_t weight[FIELDS];
	bool fields[FIELDS];
};

/* The name that a row should have: its fields by transfers, three at most. */
static void expected_name(const struct expected *row, char *text)
{
	bool used[FIELDS] = {false};

	strcpy(text, "struct eight.");
	for (unsigned count = 0; count < 3; count++) {
		unsigned best = FIELDS;

		for (unsigned field = 0; field < FIELDS; field++)
			if (row->fields[field] && !used[field] &&
			    (best == FIELDS || row->weight[field] > row->weight[best]))
				best = field;
		if (best == FIELDS)
			break;
		used[best] = true;
		sprintf(text + strlen(text), "%s%c", count ? "+" : "", 'a' + (int)best);
	}
}

static size_t expect_rows(struct expected *rows)
{
	struct meeting meetings[SCOPES][SCOPES];
	size_t count = 0, i;

	for (unsigned line = 0; line < LINES; line++) {
		reckon(line, meetings);
		for (unsigned pair = 0; pair < SCOPES * SCOPES; pair++) {
			const struct meeting *meeting = &meetings[pair / SCOPES][pair % SCOPES];
			struct expected one = {.low = pair / SCOPES, .high = pair % SCOPES};

			if (!meeting->conflict)
				continue;
			for (unsigned field = 0; field < FIELDS; field++)
				one.true_sharing |= meeting->same[field];
			one.main_field = FIELDS;
			for (unsigned field = 0; field < FIELDS; field++) {
				one.transfers += meeting->transfers[field];
				one.fields[field] =
				    one.true_sharing ? meeting->same[field] : meeting->near[field];
				one.weight[field] = one.fields[field] ? meeting->transfers[field] : 0;
				if (one.fields[field] && (one.main_field == FIELDS ||
							  one.weight[field] > one.weight[one.main_field]))
					one.main_field = field;
			}
			for (i = 0; i < count; i++)
				if (rows[i].low == one.low && rows[i].high == one.high &&
				    rows[i].true_sharing == one.true_sharing &&
				    rows[i].main_field == one.main_field)
					break;
			if (i == count)
				rows[count++] = (struct expected){.low = one.low,
								  .high = one.high,
								  .true_sharing = one.true_sharing,
								  .main_field = one.main_field};
			rows[i].lines++;
			rows[i].transfers += one.transfers;
			for (unsigned field = 0; field < FIELDS; field++) {
				rows[i].weight[field] += one.weight[field];
				rows[i].fields[field] |= one.fields[field];
			}
		}
	}
	return count;
}

static void test_against_naive(void **state)
{
	static struct expected rows[SCOPES * SCOPES * 2 * FIELDS];

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct vsmp_report report = {0};
		struct random random;
		size_t count, kinds[2] = {0, 0};

		print_message("seed %llu\n", (unsigned long long)seed);
		random_seed(&random, seed);
		open_machine();
		make_events(&random);
		count = expect_rows(rows);
		assert_int_equal(observe_report(&report), 0);
		assert_int_equal(report.conflict_count, count);
		for (size_t i = 0; i < count; i++) {
			const struct vsmp_conflict_row *row = NULL;
			char name[64];

			expected_name(&rows[i], name);
			for (size_t j = 0; j < count && !row; j++)
				if (!strcmp(report.conflicts[j].name, name) &&
				    !strcmp(report.conflicts[j].scope, scope_name[rows[i].low]) &&
				    !strcmp(report.conflicts[j].other_scope, scope_name[rows[i].high]) &&
				    report.conflicts[j].true_sharing == rows[i].true_sharing)
					row = &report.conflicts[j];
			assert_non_null(row);
			assert_int_equal(row->lines, rows[i].lines);
			assert_int_equal(row->transfers, rows[i].transfers);
			kinds[rows[i].true_sharing]++;
		}
		assert_true(kinds[0] && kinds[1]);
		for (size_t i = 1; i < count; i++)
			assert_true(report.conflicts[i - 1].transfers >= report.conflicts[i].transfers);
		observe_report_free(&report);
		vsmp_destroy();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_conflict),   cmocka_unit_test(test_true_sharing),
	    cmocka_unit_test(test_false_sharing), cmocka_unit_test(test_scope_names),
	    cmocka_unit_test(test_forget),        cmocka_unit_test(test_lives_of_one_name),
	    cmocka_unit_test(test_report_twice),  cmocka_unit_test(test_against_naive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
