/* SPDX-License-Identifier: MIT */
#include "lab/prediction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep.h"

/* One request for each case at a point, after those of the study itself. */
static struct run_request sweep_request(const struct study_plan *plan, const struct sweep_point *point,
					size_t index)
{
	struct run_request request = study_request(plan, &point->at, index * plan->repetitions);

	request.operations = plan->experiment->operations.sweep;
	request.warm_up = plan->experiment->operations.sweep_warm_up;
	request.profile = request.locks = request.lines = request.conflicts = false;
	return request;
}

/* A variant's case with the fewest CPUs and that with the most. */
static int find_growth(struct prediction *prediction)
{
	const struct study_plan *plan = &prediction->study.plan;

	prediction->growth = calloc(plan->case_count, sizeof(*prediction->growth));
	if (!prediction->growth)
		return -ENOMEM;
	for (size_t i = 0; i < plan->case_count; i++) {
		struct prediction_growth growth = {.variant = plan->cases[i].variant, .from = i, .to = i};
		bool seen = false;

		for (size_t j = 0; j < plan->case_count; j++) {
			if (plan->cases[j].variant != growth.variant)
				continue;
			seen = seen || j < i;
			if (plan->cases[j].cpus < plan->cases[growth.from].cpus)
				growth.from = j;
			if (plan->cases[j].cpus > plan->cases[growth.to].cpus)
				growth.to = j;
		}
		if (!seen && growth.from != growth.to)
			prediction->growth[prediction->growth_count++] = growth;
	}
	return 0;
}

/* Takes one set of times, one for each case, into all ranges. */
static void spread(struct prediction *prediction, const double *seconds)
{
	for (size_t i = 0; i < prediction->study.plan.case_count; i++)
		range_add(&prediction->seconds[i], seconds[i]);
	for (size_t i = 0; i < prediction->growth_count; i++) {
		struct prediction_growth *growth = &prediction->growth[i];

		range_add(&growth->range, seconds[growth->to] / seconds[growth->from]);
	}
}

static int collect(struct prediction *prediction, const struct study_plan *plan, struct run_result *results,
		   const struct run_result *swept)
{
	struct study *study = &prediction->study;
	double *seconds = calloc(plan->case_count, sizeof(*seconds));
	int error = study_collect(study, plan, results);

	prediction->seconds = calloc(plan->case_count, sizeof(*prediction->seconds));
	if (!error)
		error = find_growth(prediction);
	if (error || !seconds || !prediction->seconds) {
		free(seconds);
		return -ENOMEM;
	}
	for (size_t i = 0; i < prediction->growth_count; i++) {
		struct prediction_growth *growth = &prediction->growth[i];

		growth->ratio = study->rows[growth->to].seconds / study->rows[growth->from].seconds;
	}
	for (size_t i = 0; i < plan->case_count; i++)
		seconds[i] = study->rows[i].seconds;
	if (prediction->points)
		spread(prediction, seconds);
	for (size_t point = 0; point < prediction->points; point++) {
		for (size_t i = 0; i < plan->case_count; i++)
			seconds[i] =
			    run_extrapolated_seconds(plan->experiment, &swept[point * plan->case_count + i]);
		spread(prediction, seconds);
	}
	free(seconds);
	return 0;
}

int prediction_run(struct prediction *prediction, const struct study_plan *plan,
		   void (*progress)(size_t done, size_t count), struct message *why)
{
	size_t own = study_run_count(plan), count = own;
	struct sweep_point *points = NULL;
	struct run_request *requests;
	struct run_result *results;
	long point_count;
	int error;

	memset(prediction, 0, sizeof(*prediction));
	prediction->study.plan = *plan;
	point_count = sweep_points(plan->machine, &points);
	if (point_count < 0)
		return message_set(why, -ENOMEM, "out of memory");
	prediction->points = (size_t)point_count;
	count += prediction->points * plan->case_count;
	requests = calloc(count, sizeof(*requests));
	results = calloc(count, sizeof(*results));
	prediction->study.results = results;
	if (!requests || !results) {
		error = message_set(why, -ENOMEM, "out of memory");
		goto out;
	}
	machine_point_of_file(plan->machine, &prediction->study.point);
	for (size_t i = 0; i < own; i++)
		requests[i] = study_request(plan, &prediction->study.point, i);
	for (size_t i = own; i < count; i++)
		requests[i] =
		    sweep_request(plan, &points[(i - own) / plan->case_count], (i - own) % plan->case_count);
	error = run_all(requests, count, results, progress, why);
	if (!error && collect(prediction, plan, results, results + own))
		error = message_set(why, -ENOMEM, "out of memory");
	run_results_free(results + own, count - own);
out:
	free(requests);
	free(points);
	return error;
}

void prediction_free(struct prediction *prediction)
{
	free(prediction->seconds);
	free(prediction->growth);
	study_free(&prediction->study);
	memset(prediction, 0, sizeof(*prediction));
}
