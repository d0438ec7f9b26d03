/* SPDX-License-Identifier: MIT */
/*
 * The same workload on several engines of this computer, beside each other.
 */
#include <stdbool.h>
#include <string.h>

#include "lab/number.h"
#include "lab/report.h"
#include "lab/table.h"

/* What a touch goes through. */
static const char *crosses(const struct engine *engine)
{
	return engine->kernel ? "yes" : "no";
}

/* What the others stand beside: the running kernel, which has no variants. */
static const struct study *reference_of(const struct study *studies, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (studies[i].plan.engine->kernel)
			return &studies[i];
	return &studies[count - 1];
}

/* The row of the reference that did the same as `what`: as many CPUs, the same settings. */
static const struct study_row *row_like(const struct study *study, const struct study_case *what)
{
	for (size_t i = 0; i < study->plan.case_count; i++)
		if (study->rows[i].what.cpus == what->cpus &&
		    !memcmp(&study->rows[i].what.settings, &what->settings, sizeof(what->settings)))
			return &study->rows[i];
	return NULL;
}

/* And that which did so on one CPU, by the same variant. */
static const struct study_row *row_alone(const struct study *study, const struct study_case *what)
{
	for (size_t i = 0; i < study->plan.case_count; i++)
		if (study->rows[i].what.cpus == 1 && study->rows[i].what.variant == what->variant &&
		    !memcmp(&study->rows[i].what.settings, &what->settings, sizeof(what->settings)))
			return &study->rows[i];
	return NULL;
}

static void ratio_cell(struct table *table, const struct study_row *row, const struct study_row *to)
{
	if (to)
		table_cell(table, "%s",
			   number_text(row->operations_per_second / to->operations_per_second).text);
	else
		table_cell(table, "-");
}

void report_engines(FILE *out, unsigned width, const struct study *studies, size_t count)
{
	const struct study *reference = reference_of(studies, count);
	const struct workload *workload = workload_find(reference->plan.experiment->workload, NULL);
	char versus[64];
	const struct table_column columns[] = {
	    {"engine", TABLE_LEFT, 0, 0},     {"variant", TABLE_LEFT, 0, 0},
	    {"CPUs", TABLE_RIGHT, 0, 0},      {"ops/s, all CPUs", TABLE_RIGHT, 0, 0},
	    {versus, TABLE_RIGHT, 0, 0},      {"to 1 CPU", TABLE_RIGHT, 1, 0},
	    {"a real MMU", TABLE_LEFT, 0, 0},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	snprintf(versus, sizeof(versus), "to %s", reference->plan.engine->name);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < studies[i].plan.case_count; j++) {
			const struct study_row *row = &studies[i].rows[j];

			table_cell(table, "%s", studies[i].plan.engine->name);
			table_cell(table, "%s", report_variant(&studies[i].plan, &row->what).text);
			table_cell(table, "%u", row->what.cpus);
			table_cell(table, "%.0f", row->operations_per_second);
			ratio_cell(table, row, row_like(reference, &row->what));
			ratio_cell(table, row, row_alone(&studies[i], &row->what));
			table_cell(table, "%s", crosses(studies[i].plan.engine));
		}
	table_text(out, width, "", "Engines beside each other, an operation being one %s",
		   workload->operation);
	table_print(table, out, width);
	table_free(table);
	table_text(
	    out, width, "",
	    "They clear the same pages, and no more is alike: on engine linux a touch crosses a real MMU, "
	    "with an exception into the kernel and back and a flush of real translations, and what it "
	    "faults on is accounted, "
	    "charged and put on lists for reclaim; on engine host the same touch is a call in the "
	    "program, which crosses none. The ratio is what a program gains that pages by calls, not "
	    "how much faster the "
	    "kernel could be.");
}
