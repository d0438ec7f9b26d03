/* SPDX-License-Identifier: MIT */
#include "lab/explore.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "lab/files.h"
#include "lab/names.h"
#include "lab/pool.h"

/* A process's share, in steps: some tenths of a second of them. */
#define CHUNK_STEPS 1000000u
#define CHUNK_MAX   2000u

struct exploring {
	const struct exploration *what;
	struct exploration_result *result;
	void (*progress)(size_t done, size_t runs);
	uint64_t chunk; /* seeds of a job */
	unsigned columns;
	uint64_t seed;               /* to report */
	const uint64_t *fingerprint; /* that it must have; NULL: any */
};

/* --- One schedule ----------------------------------------------------------------------------------------
 */

static int open_check(const struct exploration *what, struct message *why)
{
	struct explore_config config = {.check = what->check,
					.policy = what->policy,
					.cpus = what->cpus,
					.strategy = what->strategy,
					.depth = what->depth};

	return what->check ? engine_explorer.open(&config, why) : 0;
}

static void close_check(const struct exploration *what)
{
	if (what->check)
		engine_explorer.close();
}

/* An experiment's schedule. What it returns besides a failure of the schedule is one, too. Returns it as
 * well, with its message. */
static int run_experiment(const struct exploration *what, enum explore_strategy strategy, unsigned depth,
			  uint64_t steps, uint64_t seed, struct explore_outcome *outcome, struct message *why)
{
	struct run_request request = *what->request;
	int error;

	request.seed = seed;
	engine_explorer.schedule_begin(strategy, depth, steps, seed);
	error = run_here(&request, why);
	*outcome = engine_explorer.schedule_end(error ? why->text : NULL);
	return error;
}

static struct explore_outcome run_seed(const struct exploring *exploring, uint64_t seed)
{
	const struct exploration *what = exploring->what;
	struct explore_outcome outcome;
	struct message why;

	if (what->check)
		return engine_explorer.run(seed);
	run_experiment(what, what->strategy, what->depth, exploring->result->steps, seed, &outcome, &why);
	return outcome;
}

/* --- How long a schedule is, and what can be found with that -----------------------------------------------
 */

/* Without a change of priorities, that is without a preemption. A schedule that fails is found again when
 * they are explored; what ends the run before one has begun is an error, and no schedule's. */
static int measure_experiment(const struct exploration *what, uint64_t *steps, struct message *why)
{
	struct explore_outcome outcome;
	int error = run_experiment(what, EXPLORE_PCT, 1, 1, what->seed, &outcome, why);

	*steps = outcome.steps;
	return outcome.steps ? 0 : error;
}

static int measure(size_t job, void *argument, struct wire *result, struct message *why, const char **details)
{
	const struct exploring *exploring = argument;
	const struct exploration *what = exploring->what;
	uint64_t steps;
	int error = open_check(what, why);

	(void)job;
	(void)details;
	if (!error && what->check)
		steps = engine_explorer.steps();
	else if (!error)
		error = measure_experiment(what, &steps, why);
	if (error)
		return error;
	close_check(what);
	wire_bytes(result, &steps, sizeof(steps));
	return 0;
}

static void take_measure(size_t job, void *argument, struct wire *wire)
{
	const struct exploration *what = ((struct exploring *)argument)->what;
	struct exploration_result *result = ((struct exploring *)argument)->result;

	(void)job;
	wire_bytes(wire, &result->steps, sizeof(result->steps));
	result->bound = engine_explorer.bound(what->cpus, result->steps, what->depth);
}

static void describe(size_t job, void *argument, char *text, size_t size)
{
	const struct exploration *what = ((struct exploring *)argument)->what;

	(void)job;
	snprintf(text, size, "%s, %s %s", what->name, what->check ? "policy" : "variant",
		 what->check ? what->policy : what->request->variant->name);
}

/* --- Many schedules --------------------------------------------------------------------------------------
 */

struct share {
	uint64_t runs;
	bool failed;
	uint64_t seed;
	struct explore_outcome outcome;
};

static int explore(size_t job, void *argument, struct wire *result, struct message *why, const char **details)
{
	const struct exploring *exploring = argument;
	const struct exploration *what = exploring->what;
	uint64_t first = job * exploring->chunk, count = what->runs - first;
	struct share share = {0};
	int error = open_check(what, why);

	(void)details;
	if (error)
		return error;
	if (count > exploring->chunk)
		count = exploring->chunk;
	while (share.runs < count && !share.failed) {
		share.seed = what->seed + first + share.runs++;
		share.outcome = run_seed(exploring, share.seed);
		share.failed = share.outcome.kind != EXPLORE_NOTHING;
	}
	close_check(what);
	wire_bytes(result, &share, sizeof(share));
	return 0;
}

static void take_share(size_t job, void *argument, struct wire *wire)
{
	struct exploring *exploring = argument;
	struct exploration_result *result = exploring->result;
	struct share share;

	(void)job;
	wire_bytes(wire, &share, sizeof(share));
	result->runs += share.runs;
	if (share.failed && (!result->failed || share.seed < result->seed)) {
		result->failed = true;
		result->seed = share.seed;
		result->outcome = share.outcome;
	}
	if (exploring->progress)
		exploring->progress(result->runs, exploring->what->runs);
}

static bool has_failed(void *argument)
{
	return ((const struct exploring *)argument)->result->failed;
}

static void describe_share(size_t job, void *argument, char *text, size_t size)
{
	const struct exploring *exploring = argument;
	uint64_t first = exploring->what->seed + job * exploring->chunk;
	size_t length;

	describe(job, argument, text, size);
	length = strlen(text);
	snprintf(text + length, size - length, ", seeds %llu to %llu", (unsigned long long)first,
		 (unsigned long long)(first + exploring->chunk - 1));
}

/* --- The report ------------------------------------------------------------------------------------------
 */

struct rerun {
	const struct exploring *exploring;
	uint64_t seed;
};

static struct explore_outcome run_again(void *argument)
{
	const struct rerun *rerun = argument;

	return run_seed(rerun->exploring, rerun->seed);
}

static int report_experiment(const struct exploring *exploring, const struct explore_outcome *expected,
			     struct explore_outcome *outcome, char **text)
{
	const struct exploration *what = exploring->what;
	struct rerun rerun = {exploring, exploring->seed};
	char title[256];

	snprintf(title, sizeof(title), "%s, %s, %u CPUs, seed %llu", what->name, what->request->variant->name,
		 what->cpus, (unsigned long long)exploring->seed);
	return engine_explorer.schedule_report(run_again, &rerun, title, expected, exploring->columns, text,
					       outcome);
}

static int report(size_t job, void *argument, struct wire *result, struct message *why, const char **details)
{
	struct exploring *exploring = argument;
	const struct exploration *what = exploring->what;
	struct explore_outcome expected = exploring->result->outcome, outcome;
	char *text;
	int error = open_check(what, why);

	(void)job;
	(void)details;
	if (error)
		return error;
	if (!exploring->result->failed)
		expected = run_seed(exploring, exploring->seed);
	if (exploring->fingerprint)
		expected.fingerprint = *exploring->fingerprint;
	if (what->check)
		error =
		    engine_explorer.report(exploring->seed, &expected, exploring->columns, &text, &outcome);
	else
		error = report_experiment(exploring, &expected, &outcome, &text);
	if (error)
		return message_set(why, error, "the report cannot be made: %s", strerror(-error));
	wire_bytes(result, &outcome, sizeof(outcome));
	wire_string(result, &text);
	free(text);
	close_check(what);
	return 0;
}

static void take_report(size_t job, void *argument, struct wire *wire)
{
	struct exploration_result *result = ((struct exploring *)argument)->result;

	(void)job;
	wire_bytes(wire, &result->outcome, sizeof(result->outcome));
	wire_string(wire, &result->report);
}

/* --- All -------------------------------------------------------------------------------------------------
 */

static int run_one(struct exploring *exploring,
		   int (*work)(size_t job, void *argument, struct wire *result, struct message *why,
			       const char **details),
		   void (*take)(size_t job, void *argument, struct wire *result), struct message *why)
{
	const struct pool pool = {.jobs = 1,
				  .parallel = 1,
				  .argument = exploring,
				  .work = work,
				  .take = take,
				  .describe = describe};

	return pool_run(&pool, why);
}

int exploration_run(const struct exploration *what, unsigned columns, struct exploration_result *result,
		    void (*progress)(size_t done, size_t runs), struct message *why)
{
	struct exploring exploring = {
	    .what = what, .result = result, .progress = progress, .columns = columns};
	struct pool pool = {.parallel = what->jobs,
			    .argument = &exploring,
			    .work = explore,
			    .take = take_share,
			    .describe = describe_share,
			    .enough = has_failed};
	int error;

	*result = (struct exploration_result){0};
	error = run_one(&exploring, measure, take_measure, why);
	if (error)
		return error;
	exploring.chunk = 1 + CHUNK_STEPS / (result->steps + 1);
	if (exploring.chunk > CHUNK_MAX)
		exploring.chunk = CHUNK_MAX;
	pool.jobs = (what->runs + exploring.chunk - 1) / exploring.chunk;
	error = pool_run(&pool, why);
	exploring.seed = result->seed;
	if (!error && result->failed)
		error = run_one(&exploring, report, take_report, why);
	return error;
}

int exploration_replay(const struct exploration *what, uint64_t seed, const uint64_t *fingerprint,
		       unsigned columns, struct exploration_result *result, struct message *why)
{
	struct exploring exploring = {
	    .what = what, .result = result, .columns = columns, .seed = seed, .fingerprint = fingerprint};
	int error;

	*result = (struct exploration_result){.seed = seed};
	error = run_one(&exploring, measure, take_measure, why);
	if (!error)
		error = run_one(&exploring, report, take_report, why);
	result->failed = !error && result->outcome.kind != EXPLORE_NOTHING;
	return error;
}

double exploration_bound(double bound, uint64_t runs)
{
	return bound < 1 ? -expm1((double)runs * log1p(-bound)) : 1;
}

int exploration_check_policy(const char *text, struct message *why)
{
	struct policy policy;

	if (!text[strspn(text, " ")])
		return message_set(
		    why, -EINVAL,
		    "--variant: a policy is wanted, as \"vma_lookup=rcu\" or \"default\", not an "
		    "empty text");
	return policy_parse(&policy, text, why);
}

static const struct check *find_check(const char *name)
{
	for (const struct check *const *check = engine_explorer.checks; *check; check++)
		if (!strcmp((*check)->name, name))
			return *check;
	return NULL;
}

int exploration_find(const char *name, const struct check **check, struct experiment **experiment,
		     struct message *why)
{
	const char *kinds = "check or experiment";
	char suggestion[MESSAGE_BYTES / 2];
	struct names names = {0};
	bool found = false;
	int error;

	*check = find_check(name);
	*experiment = NULL;
	if (*check)
		return 0;
	error = files_list("experiments", &names, why);
	/* Checks are part of the command: who has no experiments can still have one of them meant. */
	if (error == -ENOENT) {
		kinds = "check";
		error = 0;
	}
	for (size_t i = 0; !error && i < names.count; i++)
		found = found || !strcmp(names.name[i], name);
	if (found) {
		names_free(&names);
		return experiment_load(experiment, name, NULL, why);
	}
	for (const struct check *const *at = engine_explorer.checks; !error && *at; at++)
		error = names_add(&names, (*at)->name) ? message_set(why, -ENOMEM, "out of memory") : 0;
	if (!error) {
		names_sort(&names);
		names_suggest(suggestion, sizeof(suggestion), name, (const char *const *)names.name,
			      names.count);
		error = message_set(why, -ENOENT, "there is no %s \"%s\"; %s", kinds,
				    message_quote(name).text, suggestion);
	}
	names_free(&names);
	return error;
}
