/* SPDX-License-Identifier: MIT */
#include "lab/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_cpus(const void *left, const void *right)
{
	const struct scaling_point *a = left, *b = right;

	return a->cpus < b->cpus ? -1 : a->cpus > b->cpus;
}

/* Of all CPUs' time in their windows, in cycles. */
static double all_cycles(const struct study *study, const struct study_row *row)
{
	const struct engine_timing *timing = &row->observed->outcome.timing;

	return timing->cpu_seconds_per_operation * (double)timing->operations *
	       study->plan.machine->shape.gigahertz * 1e9;
}

/* What is waited for in `row`; each name is the report's. */
static void find_limits(const struct study *study, const struct study_row *row, struct scaling *scaling)
{
	const struct vsmp_report *report = &row->observed->report;
	uint64_t line = 0, lock = 0;

	for (size_t i = 0; i < report->line_count; i++)
		if (report->lines[i].wait_cycles > line) {
			line = report->lines[i].wait_cycles;
			scaling->line = report->lines[i].name;
		}
	for (size_t i = 0; i < report->lock_count; i++)
		if (report->locks[i].wait_total_cycles > lock) {
			lock = report->locks[i].wait_total_cycles;
			scaling->lock = report->locks[i].name;
		}
	if (!line && !lock)
		return;
	scaling->line_percent = 100 * (double)line / all_cycles(study, row);
	scaling->lock_percent = 100 * (double)lock / all_cycles(study, row);
}

static void find_fit(struct scaling *scaling)
{
	const struct scaling_point *points = scaling->points;

	if (scaling->count < SCALING_FIT_POINTS_MIN || scaling_fit_law(points, scaling->count, &scaling->law))
		return;
	scaling->fitted = true;
	for (size_t i = 0; i < scaling->count; i++) {
		double off = scaling_law_at(&scaling->law, points[i].cpus) / points[i].operations_per_second;

		if (100 * fabs(off - 1) > scaling->worst_percent)
			scaling->worst_percent = 100 * fabs(off - 1);
	}
}

static bool is_of(const struct study_row *row, const struct study_row *other)
{
	return row->what.variant == other->what.variant &&
	       !memcmp(&row->what.settings, &other->what.settings, sizeof(row->what.settings));
}

/* Of the same variant, the case on the fewest CPUs; *count says on how many numbers of CPUs it ran. */
static const struct study_row *fewest(const struct study *study, const struct study_row *row, size_t *count)
{
	const struct study_row *found = row;

	*count = 0;
	for (size_t i = 0; i < study->plan.case_count; i++) {
		if (!is_of(&study->rows[i], row))
			continue;
		(*count)++;
		if (study->rows[i].what.cpus < found->what.cpus)
			found = &study->rows[i];
	}
	return found;
}

bool scaling_has_curve(const struct study *study)
{
	for (size_t i = 0; i < study->plan.case_count; i++) {
		size_t count;

		fewest(study, &study->rows[i], &count);
		if (count >= SCALING_POINTS_MIN)
			return true;
	}
	return false;
}

double scaling_efficiency(const struct study *study, const struct study_row *row)
{
	size_t count;

	return fewest(study, row, &count)->ns_per_operation / row->ns_per_operation;
}

/* The curve that begins with the case of number `first`. */
static void follow(const struct study *study, size_t first, struct scaling *scaling)
{
	const struct study_row *last = &study->rows[first];
	struct scaling_point *points = scaling->points;

	for (size_t i = first; i < study->plan.case_count && scaling->count < SCALING_POINTS_MAX; i++) {
		const struct study_row *row = &study->rows[i];

		if (!is_of(row, &study->rows[first]))
			continue;
		points[scaling->count++] =
		    (struct scaling_point){row->what.cpus, row->operations_per_second, 0};
		if (row->what.cpus > last->what.cpus)
			last = row;
	}
	qsort(points, scaling->count, sizeof(*points), by_cpus);
	for (size_t i = 0; i < scaling->count; i++) {
		points[i].efficiency = points[i].operations_per_second / points[i].cpus /
				       (points[0].operations_per_second / points[0].cpus);
		if (!i || points[i].operations_per_second > points[scaling->best_cpus].operations_per_second)
			scaling->best_cpus = (unsigned)i;
	}
	scaling->best_cpus = points[scaling->best_cpus].cpus;
	scaling->variant = study->plan.engine->kernel ? "running kernel" : last->what.variant->name;
	if (study->plan.machine)
		find_limits(study, last, scaling);
	find_fit(scaling);
}

struct scaling *scaling_find(const struct study *study, size_t *count)
{
	struct scaling *all = calloc(study->plan.case_count + 1, sizeof(*all));

	if (!all)
		abort();
	*count = 0;
	for (size_t i = 0; i < study->plan.case_count; i++) {
		struct scaling *scaling = &all[*count];
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen = seen || is_of(&study->rows[j], &study->rows[i]);
		if (seen)
			continue;
		memset(scaling, 0, sizeof(*scaling));
		follow(study, i, scaling);
		if (scaling->count >= SCALING_POINTS_MIN)
			(*count)++;
	}
	return all;
}
