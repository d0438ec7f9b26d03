/* SPDX-License-Identifier: MIT */
#include "lab/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/number.h"
#include "lab/statistics.h"
#include "lab/table.h"

/* Cases that stand beside each other, at most; and how much room each takes then. */
#define CASES_MAX  6u
#define CASE_WIDTH 18u

static const struct workload *workload_of(const struct study *study)
{
	return workload_find(study->plan.experiment->workload, NULL);
}

double measured_figure(const struct study *study, size_t index, unsigned figure)
{
	unsigned repetitions = study->plan.repetitions;
	const struct run_result *results = study->rows[index].observed;
	double *values = malloc(repetitions * sizeof(*values)), median = NAN;
	unsigned count = 0;

	if (!values)
		return NAN;
	for (unsigned i = 0; i < repetitions; i++)
		if (!isnan(results[i].outcome.figures[figure]))
			values[count++] = results[i].outcome.figures[figure];
	if (count)
		median = statistics_median(values, count);
	free(values);
	return median;
}

/* A case's heading: what differs between the cases. */
static void name_case(const struct study *study, size_t index, char *text, size_t bytes)
{
	const struct study_plan *plan = &study->plan;
	const struct study_case *what = &study->rows[index].what;
	bool variants = false, cpus = false;

	for (size_t i = 1; i < plan->case_count; i++) {
		variants = variants || plan->cases[i].variant != plan->cases[0].variant;
		cpus = cpus || plan->cases[i].cpus != plan->cases[0].cpus;
	}
	if (variants && cpus)
		snprintf(text, bytes, "%s, %u CPUs", what->variant->name, what->cpus);
	else if (variants)
		snprintf(text, bytes, "%s", what->variant->name);
	else
		snprintf(text, bytes, "%u CPUs", what->cpus);
}

static bool has_figure(const struct study *study, size_t first, size_t count, unsigned figure)
{
	for (size_t i = first; i < first + count; i++)
		if (!isnan(measured_figure(study, i, figure)))
			return true;
	return false;
}

static void print_some(FILE *out, unsigned width, const struct study *study, size_t first, size_t count)
{
	const struct workload *workload = workload_of(study);
	struct table_column columns[1 + CASES_MAX] = {{"measured", TABLE_LEFT, 0, 1}};
	char names[CASES_MAX][96];
	struct table *table;

	for (size_t i = 0; i < count; i++) {
		name_case(study, first + i, names[i], sizeof(names[i]));
		columns[1 + i] = (struct table_column){names[i], TABLE_RIGHT, 0, 0};
	}
	table = table_create(columns, 1 + count);
	for (unsigned figure = 0; figure < workload->figure_count; figure++) {
		if (!has_figure(study, first, count, figure))
			continue;
		table_cell(table, "%s (%s)", workload->figures[figure].name, workload->figures[figure].unit);
		for (size_t i = 0; i < count; i++) {
			double value = measured_figure(study, first + i, figure);

			table_cell(table, "%s", isnan(value) ? "-" : number_text(value).text);
		}
	}
	fputc('\n', out);
	table_print(table, out, width);
	table_free(table);
}

void measured_print(FILE *out, unsigned width, const struct study *study)
{
	size_t cases = study->plan.case_count, beside = width ? width / CASE_WIDTH : CASES_MAX;

	if (!workload_of(study)->figure_count)
		return;
	beside = beside > CASES_MAX ? CASES_MAX : beside ? beside : 1;
	for (size_t first = 0; first < cases; first += beside)
		print_some(out, width, study, first, cases - first < beside ? cases - first : beside);
}

/* The only figure that a case has; -1: it has none or several. */
static int only_figure(const struct study *study, size_t index)
{
	int found = -1;

	for (unsigned figure = 0; figure < workload_of(study)->figure_count; figure++) {
		if (isnan(measured_figure(study, index, figure)))
			continue;
		if (found >= 0)
			return -1;
		found = (int)figure;
	}
	return found;
}

/* The case of as many CPUs that has the figure and others too; -1: there is none. */
static int together(const struct study *study, size_t alone, unsigned figure)
{
	for (size_t i = 0; i < study->plan.case_count; i++)
		if (study->rows[i].what.cpus == study->rows[alone].what.cpus && only_figure(study, i) < 0 &&
		    !isnan(measured_figure(study, i, figure)))
			return (int)i;
	return -1;
}

void measured_print_alone(FILE *out, unsigned width, const struct study *study)
{
	static const struct table_column columns[] = {
	    {"step", TABLE_LEFT, 0, 1},          {"CPUs", TABLE_RIGHT, 0, 0},
	    {"alone", TABLE_RIGHT, 0, 0},        {"with the others", TABLE_RIGHT, 0, 0},
	    {"they cost it", TABLE_RIGHT, 0, 0}, {"of its time (%)", TABLE_RIGHT, 1, 0},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));
	bool any = false;

	for (size_t i = 0; i < study->plan.case_count; i++) {
		int figure = only_figure(study, i);
		int all = figure < 0 ? -1 : together(study, i, (unsigned)figure);
		double one, both;

		if (all < 0)
			continue;
		any = true;
		one = measured_figure(study, i, (unsigned)figure);
		both = measured_figure(study, (size_t)all, (unsigned)figure);
		table_cell(table, "%s (%s)", workload_of(study)->figures[figure].name,
			   workload_of(study)->figures[figure].unit);
		table_cell(table, "%u", study->rows[i].what.cpus);
		table_cell(table, "%s", number_text(one).text);
		table_cell(table, "%s", number_text(both).text);
		table_cell(table, "%s", number_text(both - one).text);
		table_cell(table, "%+.1f", 100 * (both - one) / one);
	}
	if (any) {
		fputc('\n', out);
		table_print(table, out, width);
	}
	table_free(table);
}

json_t *measured_json(const struct study *study, size_t index)
{
	const struct workload *workload = workload_of(study);
	json_t *array = json_array();

	for (unsigned figure = 0; figure < workload->figure_count; figure++) {
		double value = measured_figure(study, index, figure);

		if (!isnan(value))
			json_array_append_new(
			    array, json_pack("{s:s, s:s, s:f}", "name", workload->figures[figure].name,
					     "unit", workload->figures[figure].unit, "value", value));
	}
	return array;
}
