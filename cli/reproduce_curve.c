/* SPDX-License-Identifier: MIT */
#include "cli/reproduce_curve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/json.h"

#define CPU_COUNTS_MAX 12 /* 1 to 1024, and one in between */

static bool is_first(const struct study_plan *plan, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (plan->cases[i].variant == plan->cases[index].variant)
			return false;
	return true;
}

/* The most CPUs on which anything was published. */
static unsigned most_cpus(const struct study_plan *plan)
{
	unsigned most = 1;

	for (size_t i = 0; i < plan->case_count; i++)
		if (plan->cases[i].cpus > most)
			most = plan->cases[i].cpus;
	return most;
}

static bool is_planned(const struct study_plan *plan, const struct study_case *what)
{
	for (size_t i = 0; i < plan->case_count; i++)
		if (plan->cases[i].variant == what->variant && plan->cases[i].cpus == what->cpus)
			return true;
	return false;
}

static void add_counts(struct reproduce_curve *curve, const struct study_plan *plan, size_t index)
{
	unsigned most = most_cpus(plan), step = plan->experiment->operations.sweep_corners_only ? 4 : 2;

	for (unsigned cpus = 1; cpus <= most; cpus = cpus < most && cpus * step > most ? most : cpus * step) {
		struct study_case *what = &curve->cases[curve->plan.case_count];

		*what = plan->cases[index];
		what->cpus = cpus;
		if (!is_planned(plan, what))
			curve->plan.case_count++;
	}
}

int reproduce_curve_plan(struct reproduce_curve *curve, const struct study_plan *plan, struct message *why)
{
	curve->plan = *plan;
	curve->plan.case_count = 0;
	curve->cases = calloc(plan->case_count * CPU_COUNTS_MAX + 1, sizeof(*curve->cases));
	if (!curve->cases)
		return message_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < plan->case_count; i++)
		if (is_first(plan, i))
			add_counts(curve, plan, i);
	curve->plan.cases = curve->cases;
	curve->plan.repetitions = 1;
	curve->plan.operations = plan->experiment->operations.sweep;
	curve->plan.warm_up = plan->experiment->operations.sweep_warm_up;
	return 0;
}

int reproduce_curve_run(struct reproduce_curve *curve, const struct study *published,
			void (*progress)(size_t done, size_t count), struct message *why)
{
	size_t others = curve->plan.case_count, count = others + published->plan.case_count;
	int error = others ? study_run(&curve->study, &curve->plan, progress, why) : 0;

	if (error)
		return error;
	curve->whole.plan = published->plan;
	curve->whole.plan.case_count = count;
	curve->whole.rows = calloc(count, sizeof(*curve->whole.rows));
	if (!curve->whole.rows)
		return message_set(why, -ENOMEM, "out of memory");
	memcpy(curve->whole.rows, published->rows, (count - others) * sizeof(*published->rows));
	if (others)
		memcpy(curve->whole.rows + count - others, curve->study.rows,
		       others * sizeof(*curve->study.rows));
	return 0;
}

json_t *reproduce_curve_json(const struct reproduce_curve *curve)
{
	json_t *object;

	if (!curve->plan.case_count)
		return json_null();
	object = json_study(&curve->study, NULL);
	json_object_set_new(object, "scaling", json_scaling(&curve->whole));
	return object;
}

void reproduce_curve_free(struct reproduce_curve *curve)
{
	study_free(&curve->study);
	free(curve->whole.rows);
	free(curve->cases);
}
