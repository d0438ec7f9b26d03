/* SPDX-License-Identifier: MIT */
#include "lab/report.h"

#include <stdlib.h>

#include "lab/number.h"
#include "lab/plot.h"
#include "lab/scaling.h"
#include "lab/table.h"

/* From here on a curve is as good as straight. */
#define EFFICIENT 0.98

static void show_plot(FILE *out, unsigned width, const struct study *study, const struct scaling *all,
		      size_t count)
{
	struct plot_curve curves[PLOT_CURVES_MAX];
	double x[PLOT_CURVES_MAX][SCALING_POINTS_MAX], y[PLOT_CURVES_MAX][SCALING_POINTS_MAX];
	const struct workload *workload = workload_find(study->plan.experiment->workload, NULL);
	char title[128];

	if (count > PLOT_CURVES_MAX)
		count = PLOT_CURVES_MAX;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < all[i].count; j++) {
			x[i][j] = all[i].points[j].cpus;
			y[i][j] = all[i].points[j].operations_per_second;
		}
		curves[i] = (struct plot_curve){all[i].variant, x[i], y[i], all[i].count};
	}
	snprintf(title, sizeof(title), "%ss in a second, of all CPUs together", workload->operation);
	plot_print(out, width, title, curves, count);
}

static void law_cells(struct table *table, const struct scaling *scaling)
{
	if (!scaling->fitted) {
		for (unsigned i = 0; i < 4; i++)
			table_cell(table, "-");
		return;
	}
	table_cell(table, "%s", number_text(scaling->law.sigma).text);
	table_cell(table, "%s", number_text(scaling->law.kappa).text);
	if (scaling->law.peak > 0)
		table_cell(table, "%.0f CPUs", scaling->law.peak);
	else
		table_cell(table, "none");
	table_cell(table, "%s", number_text(scaling->worst_percent).text);
}

static void show_limits(FILE *out, unsigned width, const struct scaling *scaling)
{
	unsigned most = scaling->points[scaling->count - 1].cpus;

	if (!scaling->line && !scaling->lock)
		table_text(out, width, "  ", "%s: on %u CPUs nothing that they share was waited for%s",
			   scaling->variant, most,
			   scaling->points[scaling->count - 1].efficiency < EFFICIENT
			       ? "; memory bandwidth, distance or a sibling limits it"
			       : "");
	else if (!scaling->lock)
		table_text(out, width, "  ", "%s: limited on %u CPUs by the line %s (%s %% of all time)",
			   scaling->variant, most, scaling->line, number_percent(scaling->line_percent).text);
	else
		table_text(out, width, "  ",
			   "%s: limited on %u CPUs by the lock %s (%s %% of all time waiting for it) and the "
			   "line %s (%s %% of all time)",
			   scaling->variant, most, scaling->lock, number_percent(scaling->lock_percent).text,
			   scaling->line ? scaling->line : "none",
			   number_percent(scaling->line_percent).text);
}

void report_scaling(FILE *out, unsigned width, const struct study *study)
{
	static const struct table_column columns[] = {
	    {"variant", TABLE_LEFT, 0, 0},
	    {"most at", TABLE_RIGHT, 0, 0},
	    {"efficiency at the end", TABLE_RIGHT, 3, 0},
	    {"contention", TABLE_RIGHT, 1, 0},
	    {"coherence", TABLE_RIGHT, 1, 0},
	    {"law's peak", TABLE_RIGHT, 2, 0},
	    {"law off by (%)", TABLE_RIGHT, 4, 0},
	};
	struct table *table;
	size_t count;
	struct scaling *all = scaling_find(study, &count);

	if (count) {
		fputc('\n', out);
		show_plot(out, width, study, all, count);
		fputc('\n', out);
		table = table_create(columns, ARRAY_SIZE(columns));
		for (size_t i = 0; i < count; i++) {
			table_cell(table, "%s", all[i].variant);
			table_cell(table, "%u CPUs", all[i].best_cpus);
			table_cell(table, "%.1f %%", 100 * all[i].points[all[i].count - 1].efficiency);
			law_cells(table, &all[i]);
		}
		table_print(table, out, width);
		table_free(table);
		for (size_t i = 0; study->plan.machine && i < count; i++)
			show_limits(out, width, &all[i]);
		table_text(out, width, "",
			   "The law: N CPUs do as much as N / (1 + contention (N - 1) + coherence N (N - 1)) "
			   "alone (Gunther's universal scalability law, fitted to the logarithms).");
	}
	free(all);
}
