/* SPDX-License-Identifier: MIT */
/*
 * What people write on the command line and read on the terminal: CPU lists, placements, names, numbers,
 * tables.
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/cpu_list.h"
#include "lab/names.h"
#include "lab/number.h"
#include "lab/placement.h"
#include "lab/table.h"

static void reads_cpu_lists(void **state)
{
	static const struct {
		const char *text;
		unsigned count;
		unsigned cpus[12];
	} lists[] = {
	    {"1", 1, {1}},
	    {"1,2,4-64", 7, {1, 2, 4, 8, 16, 32, 64}},
	    {"3-10", 3, {3, 6, 10}},
	    {"5-5", 1, {5}},
	    {"8,2,8,1-4", 4, {1, 2, 4, 8}},
	    {"1-1024", 11, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}},
	    {"007", 1, {7}},
	};
	struct message why = {""};
	struct cpu_list list;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		assert_int_equal(cpu_list_parse(&list, lists[i].text, &why), 0);
		assert_int_equal(list.count, lists[i].count);
		assert_memory_equal(list.cpus, lists[i].cpus, list.count * sizeof(list.cpus[0]));
	}
}

static void refuses_what_is_no_cpu_list(void **state)
{
	static const char *const texts[] = {"",           "0",
					    "5000",       "1025",
					    "-1",         "1-",
					    "-4",         "4-2",
					    "1,",         ",1",
					    "1,,2",       "1;2",
					    "all",        "0-4",
					    "1 ",         " 1",
					    "1-2-3",      "1-5000",
					    "+1",         "0x4",
					    "1.5",        "1, 2",
					    "--",         "1-0",
					    "4294967297", "18446744073709551617"};
	struct message why;
	struct cpu_list list;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char expected[256];

		if (cpu_list_parse(&list, texts[i], &why) != -EINVAL)
			fail_msg("\"%s\" was taken for a list", texts[i]);
		snprintf(
		    expected, sizeof(expected),
		    "\"%s\" is no list of CPU counts; give counts and ranges of 1 to 1024, such as 1,2,4-64",
		    texts[i]);
		assert_string_equal(why.text, expected);
	}
}

static void reads_placements(void **state)
{
	static const char *const wrong[] = {"",       "filll",   "fil", "fill:",    "fill:0",
					    "fill:x", "fill:-1", ":4",  "fill:4:4", "fill:1025"};
	struct vsmp_placement placement;
	struct message why;

	(void)state;
	assert_int_equal(placement_parse(&placement, "spread", &why), 0);
	assert_int_equal(placement.kind, VSMP_SPREAD);
	assert_int_equal(placement.cpus_per_socket, 0);
	assert_int_equal(placement_parse(&placement, "compact:4", &why), 0);
	assert_int_equal(placement.kind, VSMP_COMPACT);
	assert_int_equal(placement.cpus_per_socket, 4);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (placement_parse(&placement, wrong[i], &why) != -EINVAL)
			fail_msg("\"%s\" was taken for a placement", wrong[i]);
}

static void suggests_names(void **state)
{
	static const char *const few[] = {"lock", "rwlock", "cmpxchg"};
	const char *many[40];
	char text[512];

	(void)state;
	names_suggest(text, sizeof(text), "lokc", few, 3);
	assert_string_equal(text, "did you mean \"lock\"? there are: lock, rwlock, cmpxchg");
	names_suggest(text, sizeof(text), "zebra", few, 3);
	assert_string_equal(text, "there are: lock, rwlock, cmpxchg");
	names_suggest(text, sizeof(text), "zebra", few, 0);
	assert_string_equal(text, "there are none");
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = i == 20 ? "remote_read_latency" : "other";
	names_suggest(text, sizeof(text), "remote_read_latensy", many, ARRAY_SIZE(many));
	assert_string_equal(text, "did you mean \"remote_read_latency\"?");
	/* It never writes beyond its room. */
	memset(text, 'x', sizeof(text));
	names_suggest(text, 10, "lokc", few, 3);
	assert_int_equal(strlen(text), 9);
	assert_int_equal(text[10], 'x');
}

static void keeps_sets_of_names(void **state)
{
	struct names names = {0};

	(void)state;
	assert_int_equal(names_add(&names, "b"), 0);
	assert_int_equal(names_add(&names, "a"), 0);
	assert_int_equal(names_add(&names, "b"), 0);
	assert_int_equal(names.count, 2);
	names_sort(&names);
	assert_string_equal(names.name[0], "a");
	names_free(&names);
	assert_int_equal(names.count, 0);
}

static void writes_three_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} numbers[] = {{0, "0"},           {888, "888"},           {13.0588, "13.1"}, {1.3, "1.30"},
		       {0.0123, "0.0123"}, {0.999, "0.999"},       {0.9996, "1.00"},  {99.97, "100"},
		       {9.996, "10.0"},    {1847194.4, "1847194"}, {-4.05, "-4.05"},  {0.75, "0.750"},
		       {1e-9, "1e-09"},    {2.5e15, "2.5e+15"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_string_equal(number_text(numbers[i].value).text, numbers[i].text);
}

/* Prints a table of two rows at a width. */
static char *printed(unsigned width)
{
	static const struct table_column columns[] = {
	    {"name", TABLE_LEFT, 0, 0},  {"time (s)", TABLE_RIGHT, 0, 0}, {"extra", TABLE_RIGHT, 1, 0},
	    {"rest", TABLE_RIGHT, 2, 0}, {"what", TABLE_LEFT, 0, 1},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));
	char *text = calloc(1, 4096);
	FILE *out = fmemopen(text, 4096, "w");

	for (int i = 1; i <= 2; i++) {
		table_cell(table, "row%d", i);
		table_cell(table, "%d", i * 100);
		table_cell(table, "%d", i);
		table_cell(table, "%d", i);
		table_cell(table, "one two three four five six");
	}
	table_under(table, "  under it and on and on and on");
	table_print(table, out, width);
	table_free(table);
	fclose(out);
	return text;
}

static void fits_tables_to_their_room(void **state)
{
	static const struct {
		unsigned width;
		const char *text;
	} tables[] = {
	    {0, "name  time (s)  extra  rest  what\n"
		"row1       100      1     1  one two three four five six\n"
		"row2       200      2     2  one two three four five six\n"
		"                               under it and on and on and on\n"},
	    {53, "name  time  extra  rest  what\n"
		 "       (s)\n"
		 "row1   100      1     1  one two three four five six\n"
		 "row2   200      2     2  one two three four five six\n"
		 "                           under it and on and on and\n"
		 "                             on\n"},
	    {44, "name  time  extra  what\n"
		 "       (s)\n"
		 "row1   100      1  one two three four five\n"
		 "                   six\n"
		 "row2   200      2  one two three four five\n"
		 "                   six\n"
		 "                     under it and on and on\n"
		 "                       and on\n"
		 "(no room for: rest)\n"},
	    {20, "name  time  what\n"
		 "       (s)\n"
		 "row1   100  one two three four\n"
		 "            five six\n"
		 "row2   200  one two three four\n"
		 "            five six\n"
		 "              under it and on\n"
		 "                and on and on\n"
		 "(no room for: extra,\n"
		 "rest)\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		char *text = printed(tables[i].width);

		assert_string_equal(text, tables[i].text);
		free(text);
	}
}

/* Whatever the width from where all columns that stay fit, no line is longer, and none ends in a space. */
static void keeps_within_any_room(void **state)
{
	(void)state;
	for (unsigned width = 32; width < 80; width++) {
		char *text = printed(width);

		for (char *line = text; *line; line = strchr(line, '\n') + 1) {
			size_t length = strcspn(line, "\n");

			if (length > width || (length && line[length - 1] == ' '))
				fail_msg("width %u: \"%.*s\"", width, (int)length, line);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_cpu_lists),           cmocka_unit_test(refuses_what_is_no_cpu_list),
	    cmocka_unit_test(reads_placements),          cmocka_unit_test(suggests_names),
	    cmocka_unit_test(keeps_sets_of_names),       cmocka_unit_test(writes_three_digits),
	    cmocka_unit_test(fits_tables_to_their_room), cmocka_unit_test(keeps_within_any_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
