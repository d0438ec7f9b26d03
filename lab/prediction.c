/* SPDX-License-Identifier: MIT */
#include "lab/prediction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep.h"

/* The extremes of one variant: time and growth, each lowered and raised, at the file's home and the other. */
#define EXTREMES_MAX 8

/* What is under way. */
struct work {
	struct prediction *prediction;
	const struct study_plan *plan;
	const struct published_list *published;
	void (*progress)(size_t done, size_t count);
	struct message *why;
	struct sweep_point *points;
	double *seconds; /* of each case at each point; those of the study itself stand before the first */
};

/* Adds what was found at some points to prediction->swept, which frees it from then on. */
static bool keep(struct prediction *prediction, const struct run_result *results, size_t count, size_t cases)
{
	struct run_result *larger =
	    realloc(prediction->swept, (prediction->swept_points * cases + count + 1) * sizeof(*larger));

	if (!larger)
		return false;
	memcpy(larger + prediction->swept_points * cases, results, count * sizeof(*results));
	prediction->swept = larger;
	prediction->swept_points += count / cases;
	return true;
}

static struct run_request request_at(const struct work *work, const struct machine_point *at, size_t of_case)
{
	const struct study_plan *plan = work->plan;
	struct run_request request = study_request(plan, at, of_case * plan->repetitions);

	/* Only a published share needs it. */
	request.profile =
	    request.profile && published_find(work->published, PUBLISHED_PROFILE_SHARE,
					      plan->cases[of_case].variant->name, plan->cases[of_case].cpus);
	request.operations = plan->experiment->operations.sweep;
	request.warm_up = plan->experiment->operations.sweep_warm_up;
	request.unchecked = true;
	request.locks = request.lines = request.conflicts = false;
	return request;
}

/* Whether the case must be run to know what comes out: else it is what came out at the file's figures. */
static bool must_run(const struct work *work, const struct machine_point *at, size_t of_case)
{
	const struct prediction *prediction = work->prediction;

	return !prediction->at_file ||
	       machine_point_differs(at, &prediction->study.point,
				     prediction->at_file[of_case].report.parameters_asked);
}

/* Takes the `requested` results, which stand first in results[], to the places of their runs. From the end
 * on, none is written over before it has been read. */
static void put_in_place(const struct work *work, const struct machine_point *const *at,
			 struct run_result *results, size_t runs, size_t requested)
{
	for (size_t i = runs; i-- > 0;)
		results[i] = must_run(work, at[i], i % work->plan->case_count) ? results[--requested]
									       : (struct run_result){0};
}

/* What came out for run `index` of results[]: where it was not run, what did at the file's figures. */
static const struct run_result *result_of(const struct prediction *prediction,
					  const struct run_result *results, size_t index)
{
	if (results[index].outcome.timing.cpu_seconds_per_operation > 0)
		return &results[index];
	return &prediction->at_file[index % prediction->study.plan.case_count];
}

/*
 * Runs the study itself if `own` is not NULL, whose results are then there, and each case at each of `count`
 * points, with fewer operations: at[point * cases + case] says where, seconds[] what came out.
 */
static int run_cases(struct work *work, struct run_result **own, const struct machine_point *const *at,
		     size_t count, double *seconds)
{
	const struct study_plan *plan = work->plan;
	size_t first = own ? study_run_count(plan) : 0, runs = count * plan->case_count, asked = first;
	struct run_request *requests = calloc(first + runs + 1, sizeof(*requests));
	struct run_result *results = calloc(first + runs + 1, sizeof(*results));
	int error = -ENOMEM;

	if (own)
		*own = results;
	if (!requests || !results) {
		message_set(work->why, error, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < first; i++)
		requests[i] = study_request(plan, &work->prediction->study.point, i);
	for (size_t i = 0; i < runs; i++)
		if (must_run(work, at[i], i % plan->case_count))
			requests[asked++] = request_at(work, at[i], i % plan->case_count);
	error = run_all(requests, asked, results, work->progress, work->why);
	put_in_place(work, at, results + first, runs, asked - first);
	for (size_t i = 0; !error && i < runs; i++)
		seconds[i] = run_extrapolated_seconds(plan->experiment,
						      result_of(work->prediction, results + first, i)
							  ->outcome.timing.cpu_seconds_per_operation);
	if (error || !keep(work->prediction, results + first, runs, plan->case_count)) {
		if (!error)
			error = message_set(work->why, -ENOMEM, "out of memory");
		run_results_free(results + first, runs);
	}
out:
	free(requests);
	if (!own)
		free(results);
	return error;
}

/* Runs each case at the machine's figures, with few operations, to know what it asks for. */
static int run_at_file(struct work *work)
{
	const struct study_plan *plan = work->plan;
	struct run_request *requests = calloc(plan->case_count + 1, sizeof(*requests));
	int error = -ENOMEM;

	work->prediction->at_file = calloc(plan->case_count + 1, sizeof(*work->prediction->at_file));
	if (!requests || !work->prediction->at_file) {
		free(requests);
		return message_set(work->why, error, "out of memory");
	}
	for (size_t i = 0; i < plan->case_count; i++)
		requests[i] = request_at(work, &work->prediction->study.point, i);
	error = run_all(requests, plan->case_count, work->prediction->at_file, work->progress, work->why);
	free(requests);
	return error;
}

/* The cases of a variant with the fewest CPUs and with the most. */
static struct prediction_growth ends_of(const struct study_plan *plan, size_t of_case)
{
	struct prediction_growth ends = {
	    .variant = plan->cases[of_case].variant, .from = of_case, .to = of_case};

	for (size_t i = 0; i < plan->case_count; i++) {
		if (plan->cases[i].variant != ends.variant)
			continue;
		if (plan->cases[i].cpus < plan->cases[ends.from].cpus)
			ends.from = i;
		if (plan->cases[i].cpus > plan->cases[ends.to].cpus)
			ends.to = i;
	}
	return ends;
}

static int find_growth(struct prediction *prediction, const struct study_plan *plan)
{
	prediction->growth = calloc(plan->case_count + 1, sizeof(*prediction->growth));
	if (!prediction->growth)
		return -ENOMEM;
	for (size_t i = 0; i < plan->case_count; i++) {
		struct prediction_growth growth = ends_of(plan, i);
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen = seen || plan->cases[j].variant == growth.variant;
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

/* Runs the study itself, and everything at the points of sweep_points(). */
static int run_points(struct work *work)
{
	const struct study_plan *plan = work->plan;
	struct prediction *prediction = work->prediction;
	struct study *study = &prediction->study;
	size_t cases = plan->case_count, runs = prediction->points * cases;
	const struct machine_point **at = calloc(runs + 1, sizeof(const struct machine_point *));
	int error;

	work->seconds = calloc(cases + runs + 1, sizeof(*work->seconds));
	prediction->seconds = calloc(cases + 1, sizeof(*prediction->seconds));
	if (!at || !work->seconds || !prediction->seconds || find_growth(prediction, plan)) {
		free(at);
		return message_set(work->why, -ENOMEM, "out of memory");
	}
	machine_point_of_file(plan->machine, &study->point);
	for (size_t i = 0; i < runs; i++)
		at[i] = &work->points[i / cases].at;
	error = plan->experiment->operations.sweep_corners_only ? 0 : run_at_file(work);
	if (!error)
		error = run_cases(work, &study->results, at, prediction->points, work->seconds + cases);
	if (!error && study_collect(study, plan, study->results))
		error = message_set(work->why, -ENOMEM, "out of memory");
	for (size_t i = 0; !error && i < cases; i++)
		work->seconds[i] = study->rows[i].seconds;
	free(at);
	return error;
}

/* What a case's variant takes on its most CPUs, or by how much it grows up to there. */
static double quantity(const struct study_plan *plan, const double *seconds, size_t of_case, bool growth)
{
	struct prediction_growth ends = ends_of(plan, of_case);

	return growth ? seconds[ends.to] / seconds[ends.from] : seconds[ends.to];
}

/* Finds the extremes of the variant of one case: extremes[i] is that of all its cases. Returns their number.
 */
static size_t find_extremes(const struct work *work, size_t of_case, double *quantities,
			    struct machine_point extremes[EXTREMES_MAX])
{
	const struct study_plan *plan = work->plan;
	size_t count = 0;

	for (int growth = 0; growth <= (work->prediction->growth_count > 0); growth++) {
		for (size_t i = 0; i < work->prediction->points; i++)
			quantities[i] =
			    quantity(plan, work->seconds + (i + 1) * plan->case_count, of_case, growth);
		for (int raise = 0; raise <= 1; raise++) {
			sweep_extreme(plan->machine, work->points, work->prediction->points, quantities,
				      quantity(plan, work->seconds, of_case, growth), raise,
				      &extremes[count]);
			count++;
			if (!plan->machine->home_assumed)
				continue;
			extremes[count] = extremes[count - 1];
			extremes[count].home = sweep_other_home(plan->machine->home);
			count++;
		}
	}
	return count;
}

/* Runs each variant at its own extremes, all variants' first, then all their second, and so on. */
static int run_extremes(struct work *work)
{
	const struct study_plan *plan = work->plan;
	size_t cases = plan->case_count, count = 0;
	struct machine_point(*extremes)[EXTREMES_MAX] = calloc(cases + 1, sizeof(*extremes));
	const struct machine_point **at =
	    calloc(cases * EXTREMES_MAX + 1, sizeof(const struct machine_point *));
	double *seconds = calloc(cases * EXTREMES_MAX + work->prediction->points + 1, sizeof(*seconds));
	int error = -ENOMEM;

	if (!extremes || !at || !seconds) {
		message_set(work->why, error, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < cases; i++) {
		count = find_extremes(work, i, seconds, extremes[i]);
		for (size_t j = 0; j < count; j++)
			at[j * cases + i] = &extremes[i][j];
	}
	error = run_cases(work, NULL, at, count, seconds);
	for (size_t i = 0; !error && i < count; i++)
		spread(work->prediction, seconds + i * cases);
	if (!error)
		work->prediction->points += count;
out:
	free(extremes);
	free(at);
	free(seconds);
	return error;
}

int prediction_run(struct prediction *prediction, const struct study_plan *plan,
		   const struct published_list *published, void (*progress)(size_t done, size_t count),
		   struct message *why)
{
	struct work work = {
	    .prediction = prediction, .plan = plan, .published = published, .progress = progress, .why = why};
	long points;
	int error;

	memset(prediction, 0, sizeof(*prediction));
	prediction->study.plan = *plan;
	points = sweep_points(plan->machine, plan->experiment->operations.sweep_corners_only, &work.points);
	if (points < 0)
		return message_set(why, -ENOMEM, "out of memory");
	prediction->points = (size_t)points;
	error = run_points(&work);
	for (size_t i = 0; !error && i < prediction->growth_count; i++) {
		struct prediction_growth *growth = &prediction->growth[i];

		growth->ratio = work.seconds[growth->to] / work.seconds[growth->from];
	}
	for (size_t i = 0; !error && points && i <= (size_t)points; i++)
		spread(prediction, work.seconds + i * plan->case_count);
	if (!error && points && !plan->experiment->operations.sweep_corners_only)
		error = run_extremes(&work);
	free(work.points);
	free(work.seconds);
	return error;
}

void prediction_free(struct prediction *prediction)
{
	run_results_free(prediction->swept, prediction->swept_points * prediction->study.plan.case_count);
	if (prediction->at_file)
		run_results_free(prediction->at_file, prediction->study.plan.case_count);
	free(prediction->swept);
	free(prediction->at_file);
	free(prediction->seconds);
	free(prediction->growth);
	study_free(&prediction->study);
	memset(prediction, 0, sizeof(*prediction));
}

const struct run_result *prediction_at(const struct prediction *prediction, size_t point, size_t of_case)
{
	return result_of(prediction, prediction->swept, point * prediction->study.plan.case_count + of_case);
}
