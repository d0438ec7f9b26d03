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
	    .warm_up = plan->experiment->operations.warm_up,
	    .profile = plan->profile && observed,
	    .locks = plan->locks && observed,
	    .lines = plan->lines && observed,
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
		row->operations_per_second = 1e9 * row->what.cpus / row->ns_per_operation;
		row->seconds = run_extrapolated_seconds(plan->experiment, 1e-9 * row->ns_per_operation);
	}
	return 0;
}

int study_run(struct study *study, const struct study_plan *plan, void (*progress)(size_t done, size_t count),
	      struct message *why)
{
	size_t count = study_run_count(plan);
	struct run_request *requests = calloc(count, sizeof(*requests));
	struct run_result *results = calloc(count, sizeof(*results));
	int error;

	memset(study, 0, sizeof(*study));
	study->plan = *plan;
	study->results = results;
	if (!requests || !results) {
		error = message_set(why, -ENOMEM, "out of memory");
		goto out;
	}
	if (plan->machine)
		machine_point_of_file(plan->machine, &study->point);
	for (size_t i = 0; i < count; i++)
		requests[i] = study_request(plan, &study->point, i);
	error = run_all(requests, count, results, progress, why);
	if (!error && study_collect(study, plan, results))
		error = message_set(why, -ENOMEM, "out of memory");
out:
	free(requests);
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
