/* SPDX-License-Identifier: MIT */
/*
 * Contended lines, from made-up transfers of the machine's own memory and of this test's variables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "port/memory.h"
#include "tests/vsmp/fixture.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"

#define CPUS 100

/* 24 bytes: a line holds two of them and parts of others. */
struct small {
	uint64_t first, second;
	uint32_t third, fourth;
};

/* Two lines. */
struct large {
	uint64_t head;
	uint64_t body[8];
	uint64_t tail;
	char rest[48];
};

CACHE_LINE_ALIGNED struct large line_global;
CACHE_LINE_ALIGNED uint64_t line_counter[2];

/* Nobody calls these; their addresses are what an entry tells. */
#define FUNCTION(name)                                         \
	static __attribute__((noinline, used)) int name(int x) \
	{                                                      \
		return x * __LINE__ + (int)sizeof(#name);      \
	}
FUNCTION(moves_first)
FUNCTION(moves_second)

static void transfer(unsigned cpu, const void *address, unsigned bytes, bool write, uint64_t wait_cycles)
{
	observe_transfer(cpu, line_number(line_of((uintptr_t)address)),
			 (unsigned)((uintptr_t)address % CACHE_LINE_BYTES), bytes, write, wait_cycles);
}

static const struct vsmp_line_row *find_row(const struct vsmp_report *report, const char *name)
{
	for (size_t i = 0; i < report->line_count; i++)
		if (!strcmp(report->lines[i].name, name))
			return &report->lines[i];
	return NULL;
}

static void test_global(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_line_row *row;

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	observe_enter(3, (const void *)(uintptr_t)moves_first, 0, false);
	for (unsigned i = 0; i < 20; i++)
		transfer(3, &line_global.head, 8, true, 100);
	observe_enter(99, (const void *)(uintptr_t)moves_second, 0, false);
	for (unsigned i = 0; i < 5; i++)
		transfer(99, &line_global.body[i], 8, false, 10);
	transfer(3, &line_counter[1], 8, true, 1);
	observe_invalidation(7, line_number(line_of((uintptr_t)&line_global)), 60);
	assert_int_equal(observe_report(&report), 0);

	/* head has 20 of 25 transfers, body[] 5. */
	assert_int_equal(report.line_count, 2);
	row = &report.lines[0];
	assert_string_equal(row->name, "struct large line_global.head+body[]");
	assert_int_equal(row->lines, 1);
	assert_int_equal(row->transfers, 25);
	assert_int_equal(row->wait_cycles, 2050);
	assert_int_equal(row->invalidations, 60);
	assert_int_equal(row->readers, 1);
	assert_int_equal(row->writers, 2);
	assert_int_equal(row->site_count, 2);
	assert_string_equal(row->sites[0].symbol, "moves_first");
	assert_int_equal(row->sites[0].writes, 1);
	assert_int_equal(row->sites[0].transfers, 20);
	assert_string_equal(row->sites[1].symbol, "moves_second");
	assert_int_equal(row->sites[1].writes, 0);
	assert_int_equal(row->sites[1].transfers, 5);
	assert_string_equal(report.lines[1].name, "uint64_t line_counter[]");
	observe_report_free(&report);
	vsmp_destroy();
}

/* Only thrown out, never filled from another core: all that is on the line may be meant. */
static void test_only_invalidated(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	observe_invalidation(7, line_number(line_of((uintptr_t)&line_global)), 3);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.line_count, 1);
	assert_string_equal(report.lines[0].name, "struct large line_global.head..body");
	assert_int_equal(report.lines[0].transfers, 0);
	assert_int_equal(report.lines[0].invalidations, 3);
	observe_report_free(&report);
	vsmp_destroy();
}

/* Lines of one array are one row for each main field, however its elements lie across them. */
static void test_arrays(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_line_row *row;
	struct small *array;

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	array = port_memory_alloc(64 * sizeof(*array), PORT_NODE_FIRST_TOUCH, "struct small");
	assert_non_null(array);
	for (unsigned i = 0; i < 64; i++) {
		transfer(i, &array[i].second, 8, true, 2);
		transfer(i, &array[i].second, 8, false, 2);
	}
	/* A sixteenth of the row's transfers is named, less is not. */
	for (unsigned i = 0; i < 9; i++)
		transfer(0, &array[0].third, 4, false, 0);
	for (unsigned i = 0; i < 4; i++)
		transfer(0, &array[0].first, 8, false, 0);
	for (unsigned i = 0; i < 4; i++)
		transfer(0, &array[2].second, 8, false, 0);
	for (unsigned i = 0; i < 4; i++)
		transfer(0, &array[1].second, 8, false, 0);
	for (unsigned i = 0; i < 9; i++)
		transfer(0, &array[63].fourth, 4, true, 0);
	assert_int_equal(observe_report(&report), 0);
	row = find_row(&report, "struct small.second+third");
	assert_non_null(row);
	assert_int_equal(report.line_count, 2);
	assert_int_equal(row->lines + report.lines[1].lines, 24);
	assert_string_equal(report.lines[1].name, "struct small.fourth+second");
	assert_int_equal(report.lines[1].lines, 1);
	observe_report_free(&report);
	vsmp_destroy();
}

/*
 * One line, three lives:   A = struct small    B = struct large    A again
 * What happened in each is told under its own name, and the line counts once for each name.
 */
static void test_lives(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_line_row *row;
	const char *const types[] = {"struct small", "struct large", "struct small"};
	void *place = NULL;

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	for (unsigned life = 0; life < ARRAY_SIZE(types); life++) {
		void *memory = port_memory_alloc(128, PORT_NODE_FIRST_TOUCH, types[life]);

		assert_true(!place || place == memory);
		place = memory;
		for (unsigned i = 0; i <= life; i++)
			transfer(life, place, 8, true, 0);
		port_memory_free(memory, 128);
	}
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.line_count, 2);
	row = find_row(&report, "struct small.first");
	assert_non_null(row);
	assert_int_equal(row->transfers, 4);
	assert_int_equal(row->lines, 1);
	assert_int_equal(row->writers, 2);
	row = find_row(&report, "struct large.head");
	assert_non_null(row);
	assert_int_equal(row->transfers, 2);
	observe_report_free(&report);
	vsmp_destroy();
}

/* What happened to all of an object adds no name to that of a part, and goes with the line's main field. */
static void test_whole_objects(void **state)
{
	struct vsmp_report report = {0};
	struct small *array;

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	array = port_memory_alloc(8 * sizeof(*array), PORT_NODE_FIRST_TOUCH, "struct small");
	assert_non_null(array);
	transfer(0, &array[0], sizeof(*array), true, 0);
	transfer(0, &array[0], sizeof(*array), true, 0);
	transfer(0, &array[0].third, 4, true, 0);
	transfer(0, &array[4], sizeof(*array), true, 0);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.line_count, 1);
	assert_string_equal(report.lines[0].name, "struct small.third");
	assert_int_equal(report.lines[0].lines, 2);
	assert_int_equal(report.lines[0].transfers, 4);
	observe_report_free(&report);
	vsmp_destroy();
}

static void test_without_a_type(void **state)
{
	struct vsmp_report report = {0};
	char *memory;

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	memory = port_memory_alloc(8192, PORT_NODE_FIRST_TOUCH, NULL);
	assert_non_null(memory);
	transfer(0, memory, 8, true, 0);
	transfer(0, memory + 5000, 2, true, 0);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.line_count, 1);
	assert_int_equal(report.lines[0].lines, 2);
	assert_string_equal(report.lines[0].name, "[memory without a type]");
	observe_report_free(&report);
	vsmp_destroy();
}

/* A line whose lives fall into one row is one line. */
static void test_lives_of_one_name(void **state)
{
	struct vsmp_report report = {0};
	void *memory, *again;

	(void)state;
	fixture_create(1, CPUS, 1, CPUS, 1);
	memory = port_memory_alloc(64, PORT_NODE_FIRST_TOUCH, NULL);
	transfer(0, memory, 8, true, 0);
	port_memory_free(memory, 64);
	again = port_memory_alloc(64, PORT_NODE_FIRST_TOUCH, "[memory without a type]");
	assert_ptr_equal(again, memory);
	transfer(1, again, 8, true, 0);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.line_count, 1);
	assert_int_equal(report.lines[0].lines, 1);
	assert_int_equal(report.lines[0].transfers, 2);
	assert_int_equal(report.lines[0].writers, 2);
	observe_report_free(&report);
	vsmp_destroy();
}

/* --- Against a naive reckoning ------------------------------------------------------------------------- */

#define ELEMENTS 32
#define STEPS    20000

static const char *const field_name[] = {"struct large.head", "struct large.body[]", "struct large.tail",
					 "struct large.rest[]"};

struct reckoning {
	uint64_t transfers, wait_cycles, lines;
	bool readers[CPUS], writers[CPUS];
};

/* Every line keeps to one field, so that its row's name is known. */
static void test_against_naive(void **state)
{
	static const unsigned offset[] = {0, 8, 72, 80};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		unsigned field_of[ELEMENTS][2];
		bool moved[ELEMENTS][2] = {{false}};
		struct reckoning reckonings[ARRAY_SIZE(field_name)] = {0};
		struct vsmp_report report = {0};
		struct random random;
		struct large *array;

		print_message("seed %llu\n", (unsigned long long)seed);
		random_seed(&random, seed);
		fixture_create(1, CPUS, 1, CPUS, 1);
		array = port_memory_alloc(ELEMENTS * sizeof(*array), PORT_NODE_FIRST_TOUCH, "struct large");
		for (unsigned i = 0; i < ELEMENTS; i++)
			for (unsigned half = 0; half < 2; half++)
				field_of[i][half] = 2 * half + (unsigned)random_below(&random, 2);
		for (unsigned step = 0; step < STEPS; step++) {
			unsigned i = (unsigned)random_below(&random, ELEMENTS);
			unsigned half = (unsigned)random_below(&random, 2);
			unsigned cpu = (unsigned)random_below(&random, CPUS);
			unsigned field = field_of[i][half];
			bool write = random_below(&random, 2);
			struct reckoning *at = &reckonings[field];

			transfer(cpu, (char *)&array[i] + offset[field], field == 3 ? 1 : 8, write, step);
			at->transfers++;
			at->wait_cycles += step;
			at->lines += !moved[i][half];
			moved[i][half] = true;
			(write ? at->writers : at->readers)[cpu] = true;
		}
		assert_int_equal(observe_report(&report), 0);
		assert_int_equal(report.line_count, ARRAY_SIZE(field_name));
		for (unsigned field = 0; field < ARRAY_SIZE(field_name); field++) {
			const struct vsmp_line_row *row = find_row(&report, field_name[field]);
			unsigned readers = 0, writers = 0;

			assert_non_null(row);
			for (unsigned cpu = 0; cpu < CPUS; cpu++) {
				readers += reckonings[field].readers[cpu];
				writers += reckonings[field].writers[cpu];
			}
			assert_int_equal(row->transfers, reckonings[field].transfers);
			assert_int_equal(row->wait_cycles, reckonings[field].wait_cycles);
			assert_int_equal(row->lines, reckonings[field].lines);
			assert_int_equal(row->readers, readers);
			assert_int_equal(row->writers, writers);
		}
		observe_report_free(&report);
		vsmp_destroy();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_global),
	    cmocka_unit_test(test_only_invalidated),
	    cmocka_unit_test(test_arrays),
	    cmocka_unit_test(test_lives),
	    cmocka_unit_test(test_whole_objects),
	    cmocka_unit_test(test_without_a_type),
	    cmocka_unit_test(test_lives_of_one_name),
	    cmocka_unit_test(test_against_naive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
