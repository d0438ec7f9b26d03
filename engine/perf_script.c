/* SPDX-License-Identifier: MIT */
/*
 * A sample is a line with its period, a line for each function from the innermost outward ("\tADDRESS NAME"),
 * and an empty line.
 */
#include "engine/perf_script.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/perf.h"

/* Of a longer stack only the innermost functions are told, as in vsmp. */
#define FUNCTIONS_MAX 128

/* Samples and names come by the hundreds: arrays that double, and a search from end to end. */
static void *grow(void *array, size_t count, size_t bytes)
{
	return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * bytes);
}

static int add_stack(struct vsmp_report *report, char *const *functions, size_t depth, uint64_t period)
{
	struct vsmp_stack_row *rows = grow(report->stacks, report->stack_count, sizeof(*rows));
	size_t bytes = 1;
	char *path;

	if (!rows)
		return -ENOMEM;
	report->stacks = rows;
	for (size_t i = 0; i < depth; i++)
		bytes += strlen(functions[i]) + 1;
	path = calloc(1, bytes);
	if (!path)
		return -ENOMEM;
	for (size_t i = depth; i-- > 0;) {
		strcat(path, functions[i]);
		if (i)
			strcat(path, ";");
	}
	rows[report->stack_count++] = (struct vsmp_stack_row){.path = path, .self_cycles = period};
	return 0;
}

/* Takes the name out of "\t    ffffffff81605a20 handle_mm_fault\n"; NULL when it is no such line. */
static char *function_of(char *line)
{
	char *end, *name;

	strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return NULL;
	name = end + 1;
	name[strcspn(name, "\n")] = '\0';
	/* The separator of a path. */
	for (char *at = name; *at; at++)
		if (*at == ';')
			*at = ':';
	return *name ? name : NULL;
}

static int read_sample(FILE *in, char **line, size_t *room, struct vsmp_report *report)
{
	char *functions[FUNCTIONS_MAX];
	uint64_t period;
	size_t depth = 0;
	int error = 0;
	char *end;

	period = strtoull(*line, &end, 10);
	if (end == *line || end[strspn(end, " \n")])
		return -EINVAL;
	while (!error && getline(line, room, in) > 0 && **line != '\n') {
		char *name = function_of(*line);

		if (!name)
			error = -EINVAL;
		else if (depth < FUNCTIONS_MAX && !(functions[depth++] = strdup(name)))
			error = -ENOMEM;
	}
	if (!error && depth)
		error = add_stack(report, functions, depth, period);
	while (depth)
		free(functions[--depth]);
	return error;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(((const struct vsmp_stack_row *)left)->path,
		      ((const struct vsmp_stack_row *)right)->path);
}

static int by_time(const void *left, const void *right)
{
	const struct vsmp_stack_row *a = left, *b = right;

	if (a->self_cycles != b->self_cycles)
		return a->self_cycles > b->self_cycles ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void merge_equal_paths(struct vsmp_report *report)
{
	size_t kept = 0;

	qsort(report->stacks, report->stack_count, sizeof(*report->stacks), by_path);
	for (size_t i = 1; i < report->stack_count; i++) {
		if (!strcmp(report->stacks[i].path, report->stacks[kept].path)) {
			report->stacks[kept].self_cycles += report->stacks[i].self_cycles;
			free(report->stacks[i].path);
		} else {
			report->stacks[++kept] = report->stacks[i];
		}
	}
	report->stack_count = kept + 1;
	qsort(report->stacks, report->stack_count, sizeof(*report->stacks), by_time);
}

static struct vsmp_profile_row *row_of(struct vsmp_report *report, const char *name, size_t length)
{
	struct vsmp_profile_row *rows = report->profile;
	char *symbol;

	for (size_t i = 0; i < report->profile_count; i++)
		if (!strncmp(rows[i].symbol, name, length) && !rows[i].symbol[length])
			return &rows[i];
	rows = grow(rows, report->profile_count, sizeof(*rows));
	if (!rows)
		return NULL;
	report->profile = rows;
	symbol = strndup(name, length);
	if (!symbol)
		return NULL;
	rows[report->profile_count] = (struct vsmp_profile_row){.symbol = symbol};
	return &rows[report->profile_count++];
}

/* Whether the function at `at` stands further out on the path too: its total counts the path once. */
static bool is_further_out(const char *path, const char *at, size_t length)
{
	for (const char *outer = path; outer < at; outer += strcspn(outer, ";") + 1)
		if (strcspn(outer, ";") == length && !strncmp(outer, at, length))
			return true;
	return false;
}

static int add_to_profile(struct vsmp_report *report, const char *path, double percent)
{
	for (const char *at = path;; at++) {
		size_t length = strcspn(at, ";");
		struct vsmp_profile_row *row = row_of(report, at, length);

		if (!row)
			return -ENOMEM;
		if (!is_further_out(path, at, length))
			row->total_percent += percent;
		at += length;
		if (*at)
			continue;
		row->self_percent += percent;
		return 0;
	}
}

static int by_percent(const void *left, const void *right)
{
	const struct vsmp_profile_row *a = left, *b = right;

	if (a->self_percent != b->self_percent)
		return a->self_percent > b->self_percent ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static int make_profile(struct vsmp_report *report)
{
	double whole = 0;
	int error = 0;

	merge_equal_paths(report);
	for (size_t i = 0; i < report->stack_count; i++)
		whole += (double)report->stacks[i].self_cycles;
	for (size_t i = 0; i < report->stack_count && !error; i++)
		error = add_to_profile(report, report->stacks[i].path,
				       100.0 * (double)report->stacks[i].self_cycles / whole);
	if (!error)
		qsort(report->profile, report->profile_count, sizeof(*report->profile), by_percent);
	return error;
}

int perf_script_read(FILE *in, struct vsmp_report *report)
{
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	while (!error && getline(&line, &room, in) > 0)
		if (*line != '\n')
			error = read_sample(in, &line, &room, report);
	free(line);
	if (!error && report->stack_count)
		error = make_profile(report);
	return error;
}

void perf_report_free(struct vsmp_report *report)
{
	for (size_t i = 0; i < report->profile_count; i++)
		free(report->profile[i].symbol);
	for (size_t i = 0; i < report->stack_count; i++)
		free(report->stacks[i].path);
	free(report->profile);
	free(report->stacks);
	report->profile = NULL;
	report->stacks = NULL;
	report->profile_count = report->stack_count = 0;
}
