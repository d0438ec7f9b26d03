/* SPDX-License-Identifier: MIT */
/*
 * Profiles that were published in ticks of the timer, as readprofile(8) prints them: the functions with the
 * most first, and ours in as many ticks as were published in all.
 */
#include <math.h>
#include <stdlib.h>

#include "lab/figures.h"
#include "lab/report.h"
#include "lab/table.h"

static const struct table_column columns[] = {
    {"variant", TABLE_LEFT, 0, 0},
    {"CPUs", TABLE_RIGHT, 2, 0},
    {"published (ticks)", TABLE_RIGHT, 0, 0},
    {"ours (ticks)", TABLE_RIGHT, 0, 0},
    {"function, or what is part of it", TABLE_LEFT, 0, 1},
};

static bool has_ticks(const struct published *figure, const struct study_case *what)
{
	return figure->ticks && published_is_of(figure, what->variant->name, what->cpus);
}

static int most_first(const void *left, const void *right)
{
	const struct published *one = *(const struct published *const *)left;
	const struct published *other = *(const struct published *const *)right;

	return one->ticks < other->ticks ? 1 : -(one->ticks > other->ticks);
}

static void add_case(struct table *table, const struct study_row *row, const struct published_list *published)
{
	const struct published **figures =
	    calloc(published->published_count, sizeof(const struct published *));
	size_t count = 0;

	if (!figures)
		abort();
	for (uint32_t i = 0; i < published->published_count; i++) {
		const struct published *figure = &published->published[i];

		if (has_ticks(figure, &row->what))
			figures[count++] = figure;
	}
	qsort(figures, count, sizeof(const struct published *), most_first);
	for (size_t i = 0; i < count; i++) {
		const struct published *figure = figures[i];
		double ours = figure_ours_ticks(figure, row, published);

		table_cell(table, "%s", figure->variant);
		table_cell(table, "%u", figure->cpus);
		table_cell(table, "%llu", (unsigned long long)figure->ticks);
		if (isnan(ours))
			table_cell(table, "-");
		else
			table_cell(table, "%.0f", ours);
		table_cell(table, "%s", figure->caller ? figure->caller : figure->symbol);
	}
	free(figures);
}

void report_ticks(FILE *out, unsigned width, const struct prediction *prediction,
		  const struct published_list *published)
{
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < prediction->study.plan.case_count; i++)
		add_case(table, &prediction->study.rows[i], published);
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
}
