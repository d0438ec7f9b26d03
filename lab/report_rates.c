/* SPDX-License-Identifier: MIT */
/*
 * Published rates beside ours. Where several were published for one number of CPUs, each is also set beside
 * the first of them: a ratio, in which much of a machine's uncertainty is divided out.
 */
#include <stdio.h>

#include "lab/number.h"
#include "lab/report.h"
#include "lab/table.h"

#define MILLION 1e6

static double rate_of(const struct run_result *result, unsigned cpus)
{
	return cpus / result->outcome.timing.cpu_seconds_per_operation;
}

static double swept_rate(const struct prediction *prediction, size_t point, size_t index)
{
	return rate_of(prediction_at(prediction, point, index), prediction->study.plan.cases[index].cpus);
}

static double own_rate(const struct prediction *prediction, size_t index)
{
	return prediction->study.rows[index].operations_per_second;
}

struct range report_rate_range(const struct prediction *prediction, size_t index)
{
	struct range range = {0};

	for (size_t point = 0; point < prediction->swept_points; point++)
		range_add(&range, swept_rate(prediction, point, index));
	if (range.count)
		range_add(&range, own_rate(prediction, index));
	return range;
}

static struct range ratio_range(const struct prediction *prediction, size_t index, size_t to)
{
	struct range range = {0};

	for (size_t point = 0; point < prediction->swept_points; point++)
		range_add(&range, swept_rate(prediction, point, index) / swept_rate(prediction, point, to));
	if (range.count)
		range_add(&range, own_rate(prediction, index) / own_rate(prediction, to));
	return range;
}

static void add_row(struct table *table, const struct published *figure, double published, double ours,
		    const struct range *range, double unit, const char *of)
{
	table_cell(table, "%s%s%s", figure->variant, *of ? " : " : "", of);
	table_cell(table, "%u", figure->cpus);
	table_cell(table, "%s", number_text(published / unit).text);
	table_cell(table, "%s", number_text(ours / unit).text);
	table_cell(table, "%s", number_text(ours / published).text);
	table_cell(table, "%s", published_kind_name(*of ? PUBLISHED_PREDICTED : figure->kind));
	if (range->count)
		table_cell(table, "%s to %s", number_text(range->low / unit).text,
			   number_text(range->high / unit).text);
	else
		table_cell(table, "-");
}

static size_t case_of(const struct study_plan *plan, const struct published *figure)
{
	size_t index = 0;

	while (!published_is_of(figure, plan->cases[index].variant->name, plan->cases[index].cpus))
		index++;
	return index;
}

/* The first rate of so many CPUs. */
static const struct published *first_rate(const struct published_list *published, unsigned cpus)
{
	const struct published *figure = published->published;

	while (figure->quantity != PUBLISHED_RATE || figure->cpus != cpus)
		figure++;
	return figure;
}

void report_rates(FILE *out, unsigned width, const struct prediction *prediction,
		  const struct published_list *published)
{
	static const struct table_column columns[] = {
	    {"variant", TABLE_LEFT, 0, 0},
	    {"CPUs", TABLE_RIGHT, 4, 0},
	    {"published (million/s)", TABLE_RIGHT, 0, 0},
	    {"ours (million/s)", TABLE_RIGHT, 0, 0},
	    {"ours/published", TABLE_RIGHT, 2, 0},
	    {"kind", TABLE_LEFT, 3, 0},
	    {"range over assumptions", TABLE_RIGHT, 1, 0},
	};
	const struct study_plan *plan = &prediction->study.plan;
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	for (uint32_t i = 0; i < published->published_count; i++) {
		const struct published *figure = &published->published[i];
		struct range range;

		if (figure->quantity != PUBLISHED_RATE)
			continue;
		range = report_rate_range(prediction, case_of(plan, figure));
		add_row(table, figure, figure->value, own_rate(prediction, case_of(plan, figure)), &range,
			MILLION, "");
	}
	for (uint32_t i = 0; i < published->published_count; i++) {
		const struct published *figure = &published->published[i], *first;
		size_t index, to;
		struct range range;

		if (figure->quantity != PUBLISHED_RATE)
			continue;
		first = first_rate(published, figure->cpus);
		if (first == figure)
			continue;
		index = case_of(plan, figure);
		to = case_of(plan, first);
		range = ratio_range(prediction, index, to);
		add_row(table, figure, figure->value / first->value,
			own_rate(prediction, index) / own_rate(prediction, to), &range, 1, first->variant);
	}
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
}
