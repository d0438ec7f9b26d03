/* SPDX-License-Identifier: MIT */
#include "cli/reproduce_curve.h"

#include <errno.h>
#include <stdlib.h>

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

int reproduce_curve_plan(struct reproduce_curve *curve, const struct study_plan *plan, struct message *why)
{
	const struct experiment *experiment = plan->experiment;
	unsigned most = most_cpus(plan), step = experiment->operations.sweep_corners_only ? 4 : 2;
	size_t count = 0;

	curve->cases = calloc(plan->case_count * CPU_COUNTS_MAX + 1, sizeof(*curve->cases));
	if (!curve->cases)
		return message_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < plan->case_count; i++)
		for (unsigned cpus = 1; is_first(plan, i) && cpus <= most;
		     cpus = cpus < most && cpus * step > most ? most : cpus * step) {
			curve->cases[count] = plan->cases[i];
			curve->cases[count++].cpus = cpus;
		}
	curve->plan = *plan;
	curve->plan.cases = curve->cases;
	curve->plan.case_count = count;
	curve->plan.repetitions = 1;
	curve->plan.operations = experiment->operations.sweep;
	curve->plan.warm_up = experiment->operations.sweep_warm_up;
	curve->plan.profile = curve->plan.locks = curve->plan.lines = curve->plan.conflicts = true;
	return 0;
}

void reproduce_curve_free(struct reproduce_curve *curve)
{
	study_free(&curve->study);
	free(curve->cases);
}
