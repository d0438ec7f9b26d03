/* SPDX-License-Identifier: MIT */
#include "lab/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/number.h"
#include "lab/share.h"
#include "lab/statistics.h"
#include "lab/table.h"

double figure_ours(const struct published *figure, const struct study_row *row)
{
	double share;

	switch (figure->quantity) {
	case PUBLISHED_SECONDS:
		return row->seconds;
	case PUBLISHED_RATE:
		return row->operations_per_second;
	case PUBLISHED_PROFILE_SHARE:
		share = share_percent(&row->observed->report, figure->ours, figure->ours_count, figure->of,
				      figure->of_count);
		return share < 0 ? NAN : share;
	}
	return NAN;
}

double figure_ours_ticks(const struct published *figure, const struct study_row *row,
			 const struct published_list *published)
{
	double percent = share_percent(&row->observed->report, figure->ours, figure->ours_count, NULL, 0);

	for (uint32_t i = 0; percent >= 0 && i < published->published_count; i++) {
		const struct published *other = &published->published[i];

		if (other->ticks && !other->caller && published_is_of(other, figure->variant, figure->cpus))
			return percent / 100 * published_all_ticks(other);
	}
	return NAN;
}

static void add_row(struct figures *figures, const char *experiment, const struct published *published,
		    const struct study_row *row)
{
	struct figure_row *grown = realloc(figures->rows, (figures->count + 1) * sizeof(*grown));
	double ours = figure_ours(published, row);

	if (!grown)
		abort();
	figures->rows = grown;
	grown[figures->count++] =
	    (struct figure_row){.published = published,
				.experiment = experiment,
				.ours = ours,
				.is_share = published->quantity == PUBLISHED_PROFILE_SHARE,
				.points = ours - published->value,
				.ratio = ours / published->value};
}

void figures_add(struct figures *figures, const struct prediction *prediction,
		 const struct published_list *published)
{
	const struct study_plan *plan = &prediction->study.plan;

	for (uint32_t i = 0; i < published->published_count; i++)
		for (size_t j = 0; j < plan->case_count; j++)
			if (published_is_of(&published->published[i], plan->cases[j].variant->name,
					    plan->cases[j].cpus))
				add_row(figures, plan->experiment->name, &published->published[i],
					&prediction->study.rows[j]);
}

void figures_free(struct figures *figures)
{
	free(figures->rows);
	*figures = (struct figures){0};
}

static void spread(double *values, size_t count, double *median, double *worst)
{
	*median = count ? statistics_median(values, count) : 0;
	*worst = 0;
	for (size_t i = 0; i < count; i++)
		*worst = values[i] > *worst ? values[i] : *worst;
}

void figures_sum_up(const struct figures *figures, struct figures_summary *summary)
{
	double *factors = calloc(figures->count + 1, sizeof(*factors));
	double *points = calloc(figures->count + 1, sizeof(*points));

	if (!factors || !points)
		abort();
	*summary = (struct figures_summary){0};
	for (size_t i = 0; i < figures->count; i++) {
		const struct figure_row *row = &figures->rows[i];

		if (row->published->kind != PUBLISHED_PREDICTED || isnan(row->ours))
			continue;
		if (row->is_share)
			points[summary->shares++] = fabs(row->points);
		else
			factors[summary->factors++] = row->ratio < 1 ? 1 / row->ratio : row->ratio;
	}
	spread(factors, summary->factors, &summary->median_factor, &summary->worst_factor);
	spread(points, summary->shares, &summary->median_points, &summary->worst_points);
	free(factors);
	free(points);
}

static void value_cell(struct table *table, const struct figure_row *row, double value)
{
	if (isnan(value))
		table_cell(table, "-");
	else if (row->is_share)
		table_cell(table, "%s %%", number_percent(value).text);
	else if (row->published->quantity == PUBLISHED_RATE)
		table_cell(table, "%s M/s", number_text(value / 1e6).text);
	else
		table_cell(table, "%s %s", number_text(value).text, row->published->unit);
}

static void error_cell(struct table *table, const struct figure_row *row)
{
	if (isnan(row->ours))
		table_cell(table, "-");
	else if (row->is_share)
		table_cell(table, "%+.2f points", row->points);
	else
		table_cell(table, "%+.1f %%", 100 * (row->ratio - 1));
}

static void what_cell(struct table *table, const struct published *published)
{
	const char *what =
	    published->symbol ? published->symbol : published_quantity_name(published->quantity);

	table_cell(table, "%s%s%s", what, published->caller ? " for " : "",
		   published->caller ? published->caller : "");
}

static void print_summary(FILE *out, unsigned width, const struct figures *figures)
{
	struct figures_summary summary;
	char text[256] = "";

	figures_sum_up(figures, &summary);
	if (summary.factors)
		snprintf(text, sizeof(text),
			 "%zu times and rates are off by a factor of %s in the median, %s at worst",
			 summary.factors, number_text(summary.median_factor).text,
			 number_text(summary.worst_factor).text);
	if (summary.shares)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%zu shares of time%s by %s points in the median, %s at worst", *text ? "; " : "",
			 summary.shares, *text ? "" : " are off", number_text(summary.median_points).text,
			 number_text(summary.worst_points).text);
	if (*text)
		table_text(out, width, "", "Predictions: %s.", text);
}

void figures_print(FILE *out, unsigned width, const struct figures *figures)
{
	static const struct table_column columns[] = {
	    {"experiment", TABLE_LEFT, 2, 0}, {"variant", TABLE_LEFT, 0, 0},    {"CPUs", TABLE_RIGHT, 3, 0},
	    {"what", TABLE_LEFT, 0, 1},       {"published", TABLE_RIGHT, 0, 0}, {"ours", TABLE_RIGHT, 0, 0},
	    {"ratio", TABLE_RIGHT, 4, 0},     {"error", TABLE_RIGHT, 1, 0},     {"kind", TABLE_LEFT, 5, 0},
	};
	struct table *table;

	if (!figures->count)
		return;
	table = table_create(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < figures->count; i++) {
		const struct figure_row *row = &figures->rows[i];

		table_cell(table, "%s", row->experiment);
		table_cell(table, "%s", row->published->variant);
		table_cell(table, "%u", row->published->cpus);
		what_cell(table, row->published);
		value_cell(table, row, row->published->value);
		value_cell(table, row, row->ours);
		table_cell(table, "%s", isnan(row->ours) ? "-" : number_text(row->ratio).text);
		error_cell(table, row);
		table_cell(table, "%s", published_kind_name(row->published->kind));
	}
	fprintf(out, "Every published figure\n");
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
	print_summary(out, width, figures);
}

static json_t *spread_json(size_t count, double median, double worst)
{
	return count ? json_pack("{s:I, s:f, s:f}", "count", (json_int_t)count, "median", median, "worst",
				 worst)
		     : json_null();
}

json_t *figures_json(const struct figures *figures)
{
	struct figures_summary summary;

	figures_sum_up(figures, &summary);
	return json_pack("{s:I, s:o, s:o}", "predictions", (json_int_t)(summary.factors + summary.shares),
			 "factors", spread_json(summary.factors, summary.median_factor, summary.worst_factor),
			 "points", spread_json(summary.shares, summary.median_points, summary.worst_points));
}
