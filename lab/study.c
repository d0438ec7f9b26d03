/* SPDX-License-Identifier: MIT */
#include "lab/study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/statistics.h"

struct study_case study_case(const struct experiment *experiment, const struct experiment_variant *variant,
			     unsigned cpus)
{
	struct study_case made = {.variant = variant, .cpus = cpus};

	experiment_settings(experiment, variant, &made.settings);
	return made;
}

size_t study_run_count(const struct study_plan *plan)
{
	return plan->case_count * plan->repetitions;
}

uint64_t study_warm_up(const struct study_plan *plan)
{
	return plan->warm_up ? plan->warm_up : plan->experiment->operations.warm_up;
}

struct run_request study_request(const struct study_plan *plan, const struct machine_point *point,
				 size_t index)
{
	const struct study_case *what = &plan->cases[index / plan->repetitions];
	unsigned repetition = (unsigned)(index % plan->repetitions);
	bool observed = repetition == 0;

	return (struct run_request){
	    .engine = plan->engine,
	    .experiment = plan->experiment,
	    .variant = what->variant,
	    .machine = plan->machine,
	    .point = point,
	    .placement = plan->placement,
	    .cpus = what->cpus,
	    .settings = what->settings,
	    .seed = plan->seed + repetition,
	    .operations = plan->operations,
	    .warm_up = study_warm_up(plan),
	    .what_if = plan->what_if,
	    .profile = plan->profile && observed,
	    .locks = (plan->locks || plan->limits) && observed,
	    .lines = (plan->lines || plan->limits) && observed,
	    .conflicts = plan->conflicts && observed,
	};
}

int study_collect(struct study *study, const struct study_plan *plan, struct run_result *results)
{
	study->plan = *plan;
	study->results = results;
	study->rows = calloc(plan->case_count, sizeof(*study->rows));
	if (!study->rows)
		return -ENOMEM;
	for (size_t i = 0; i < plan->case_count; i++) {
		struct study_row *row = &study->rows[i];
		const struct run_result *of_case = &results[i * plan->repetitions];

		row->what = plan->cases[i];
		row->observed = of_case;
		row->samples_ns = calloc(plan->repetitions, sizeof(*row->samples_ns));
		if (!row->samples_ns)
			return -ENOMEM;
		for (unsigned j = 0; j < plan->repetitions; j++)
			row->samples_ns[j] = 1e9 * of_case[j].outcome.timing.cpu_seconds_per_operation;
		row->ns_per_operation = statistics_median(row->samples_ns, plan->repetitions);
		row->operations_per_second =
		    1e9 * (of_case->outcome.workers ? of_case->outcome.workers : row->what.cpus) /
		    row->ns_per_operation;
		row->seconds = run_extrapolated_seconds(plan->experiment, 1e-9 * row->ns_per_operation);
	}
	return 0;
}

/*
 * The number of the run that is made at `step`. On real CPUs the cases take turns, there and back (A B B A),
 * so that what drifts drifts for all alike; where time is simulated nothing drifts, and they stand in order.
 */
size_t study_order(const struct study_plan *plan, size_t step)
{
	size_t repetition = step / plan->case_count, at = step % plan->case_count;

	if (plan->machine)
		return step;
	return (repetition % 2 ? plan->case_count - 1 - at : at) * plan->repetitions + repetition;
}

/* Real CPUs first run each case once for nothing: clocks and caches are then as they stay. */
static size_t warm_up_count(const struct study_plan *plan)
{
	return plan->machine ? 0 : plan->case_count;
}

static struct run_request request_at(const struct study *study, size_t step)
{
	const struct study_plan *plan = &study->plan;
	size_t warm_up = warm_up_count(plan);
	struct run_request request;

	if (step >= warm_up)
		return study_request(plan, &study->point, study_order(plan, step - warm_up));
	request = study_request(plan, &study->point, step * plan->repetitions);
	request.profile = request.locks = request.lines = request.conflicts = false;
	return request;
}

/* Takes the results, in the order in which they were made, to the places of their runs. */
static void put_in_place(struct study *study, struct run_result *made)
{
	size_t warm_up = warm_up_count(&study->plan), count = study_run_count(&study->plan);

	run_results_free(made, warm_up);
	for (size_t step = 0; step < count; step++)
		study->results[study_order(&study->plan, step)] = made[warm_up + step];
}

int study_run(struct study *study, const struct study_plan *plan, void (*progress)(size_t done, size_t count),
	      struct message *why)
{
	size_t count = study_run_count(plan), all = count + warm_up_count(plan);
	struct run_request *requests = calloc(all, sizeof(*requests));
	struct run_result *made = calloc(all, sizeof(*made));
	int error;

	memset(study, 0, sizeof(*study));
	study->plan = *plan;
	study->results = calloc(count, sizeof(*study->results));
	if (!requests || !made || !study->results) {
		error = message_set(why, -ENOMEM, "out of memory");
		goto out;
	}
	if (plan->machine)
		machine_point_of_file(plan->machine, &study->point);
	else
		computer_look(&study->computer);
	for (size_t i = 0; i < all; i++)
		requests[i] = request_at(study, i);
	error = run_all(requests, all, made, progress, why);
	put_in_place(study, made);
	if (!error && study_collect(study, plan, study->results))
		error = message_set(why, -ENOMEM, "out of memory");
out:
	free(requests);
	free(made);
	return error;
}

void study_free(struct study *study)
{
	for (size_t i = 0; study->rows && i < study->plan.case_count; i++)
		free(study->rows[i].samples_ns);
	free(study->rows);
	if (study->results)
		run_results_free(study->results, study_run_count(&study->plan));
	free(study->results);
	memset(study, 0, sizeof(*study));
}
