/* SPDX-License-Identifier: MIT */
/*
 * Published profiles beside ours.
 */
#include <string.h>

#include "lab/number.h"
#include "lab/report.h"
#include "lab/share.h"
#include "lab/table.h"

static double percent_of(const struct published *figure, const struct run_result *result)
{
	return share_percent(&result->report, figure->ours, figure->ours_count, figure->of, figure->of_count);
}

static const struct table_column columns[] = {
    {"variant", TABLE_LEFT, 0, 0},
    {"CPUs", TABLE_RIGHT, 4, 0},
    {"share of time in, or of that time for", TABLE_LEFT, 0, 1},
    {"published (%)", TABLE_RIGHT, 0, 0},
    {"ours (%)", TABLE_RIGHT, 0, 0},
    {"off by (points)", TABLE_RIGHT, 2, 0},
    {"kind", TABLE_LEFT, 3, 0},
    {"range over assumptions (%)", TABLE_RIGHT, 1, 0},
};

static void share_row(struct table *table, const struct prediction *prediction, size_t index,
		      const struct published *figure)
{
	double ours = percent_of(figure, prediction->study.rows[index].observed);
	struct range range = report_share_range(prediction, index, figure);

	table_cell(table, "%s", figure->variant);
	table_cell(table, "%u", figure->cpus);
	table_cell(table, "%s%s", figure->caller ? "  for " : "",
		   figure->caller ? figure->caller : figure->symbol);
	table_cell(table, "%s", number_percent(figure->value).text);
	table_cell(table, "%s", ours < 0 ? "-" : number_percent(ours).text);
	table_cell(table, "%s%s", ours > figure->value ? "+" : "",
		   ours < 0 ? "-" : number_percent(ours - figure->value).text);
	table_cell(table, "%s", published_kind_name(figure->kind));
	if (range.count)
		table_cell(table, "%s to %s", number_percent(range.low).text,
			   number_percent(range.high).text);
	else
		table_cell(table, "-");
}

struct range report_share_range(const struct prediction *prediction, size_t index,
				const struct published *figure)
{
	struct range range = {0};

	for (size_t point = 0; point < prediction->swept_points; point++) {
		double percent = percent_of(figure, prediction_at(prediction, point, index));

		if (percent >= 0)
			range_add(&range, percent);
	}
	if (range.count)
		range_add(&range, percent_of(figure, prediction->study.rows[index].observed));
	return range;
}

void report_shares(FILE *out, unsigned width, const struct prediction *prediction,
		   const struct published_list *published)
{
	const struct study_plan *plan = &prediction->study.plan;
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	for (uint32_t i = 0; i < published->published_count; i++) {
		const struct published *figure = &published->published[i];

		if (figure->quantity != PUBLISHED_PROFILE_SHARE)
			continue;
		for (size_t j = 0; j < plan->case_count; j++)
			if (published_is_of(figure, plan->cases[j].variant->name, plan->cases[j].cpus))
				share_row(table, prediction, j, figure);
	}
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
}
