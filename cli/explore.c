/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "lab/explore.h"
#include "lab/pool.h"

#define SEED_MAX         ((uint64_t)1 << 62)
#define RUNS_MAX         1000000000
#define DEPTH_MAX        16
#define JOBS_MAX         16
#define CHECK_RUNS       10000 /* where it is not said */
#define EXPERIMENT_RUNS  1000
#define EXPERIMENT_CPUS  2
#define DEFAULT_DEPTH    3
#define VARIANTS_ALL_MAX 64

enum key { KEY_VARIANT = 256, KEY_STRATEGY, KEY_DEPTH, KEY_RUNS, KEY_SEED, KEY_CPUS, KEY_JOBS, KEY_REPLAY };

static const struct argp_option own[] = {
    {"variant", KEY_VARIANT, "V", 0,
     "of an experiment, one of its variants; of a check, a policy: \"vma_lookup=rcu page_table_lock=split\" "
     "(default: each that there is)",
     1},
    {"cpus", KEY_CPUS, "N", 0,
     "so many CPUs, up to 8; more than a check has functions where it allows that (default: the check's "
     "functions; 2 for an experiment)",
     1},
    {"strategy", KEY_STRATEGY, "random|pct", 0,
     "pct: few preemptions at random places (default); random: any CPU at each step", 2},
    {"depth", KEY_DEPTH, "D", 0, "of pct: D - 1 preemptions (default: 3)", 2},
    {"runs", KEY_RUNS, "N", 0, "that many schedules of each variant (default: 10000; 1000 of an experiment)",
     2},
    {"seed", KEY_SEED, "S", 0, "the first one's seed (default: 1); the next has the next number", 2},
    {"jobs", KEY_JOBS, "N", 0, "in N processes at a time (default: one a processor); the output is the same",
     3},
    {"replay", KEY_REPLAY, "SEED[:FINGERPRINT]", 0,
     "run only this one and report it; say if it differs from the fingerprint", 4},
    {0}};

struct values {
	const char *name, *variant;
	enum explore_strategy strategy;
	uint64_t depth, runs, seed, cpus, jobs;
	bool replay, has_fingerprint;
	uint64_t replay_seed, fingerprint;
};

static int take_strategy(const char *text, enum explore_strategy *strategy, struct message *why)
{
	*strategy = !strcmp(text, "random") ? EXPLORE_RANDOM : EXPLORE_PCT;
	if (*strategy == EXPLORE_RANDOM || !strcmp(text, "pct"))
		return 0;
	return message_set(why, -EINVAL, "--strategy: \"%s\" must be random or pct",
			   message_quote(text).text);
}

static int take_replay(const char *text, struct values *values, struct message *why)
{
	const size_t digits = 2 * sizeof(values->fingerprint);
	size_t length = strcspn(text, ":");
	const char *fingerprint = text + length + 1;
	char seed[32];

	values->replay = true;
	snprintf(seed, sizeof(seed), "%.*s", (int)length, text);
	if (options_number("--replay", seed, 0, SEED_MAX, &values->replay_seed, why))
		return -EINVAL;
	if (!text[length])
		return 0;
	values->has_fingerprint = true;
	values->fingerprint = strtoull(fingerprint, NULL, 16);
	/* strtoull() takes blanks, a sign and a prefix as well. */
	if (strspn(fingerprint, "0123456789abcdef") == digits && !fingerprint[digits])
		return 0;
	return message_set(why, -EINVAL,
			   "--replay: \"%s\" must be a seed, or SEED:FINGERPRINT as a report has it",
			   message_quote(text).text);
}

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;

	switch (key) {
	case KEY_VARIANT:
		values->variant = text;
		return 0;
	case KEY_STRATEGY:
		return take_strategy(text, &values->strategy, why);
	case KEY_DEPTH:
		return options_number("--depth", text, 1, DEPTH_MAX, &values->depth, why);
	case KEY_RUNS:
		return options_number("--runs", text, 1, RUNS_MAX, &values->runs, why);
	case KEY_SEED:
		return options_number("--seed", text, 0, SEED_MAX, &values->seed, why);
	case KEY_CPUS:
		return options_number("--cpus", text, 2, CHECK_CPUS_MAX, &values->cpus, why);
	case KEY_JOBS:
		return options_number("--jobs", text, 1, JOBS_MAX, &values->jobs, why);
	case KEY_REPLAY:
		return take_replay(text, values, why);
	case ARGP_KEY_END:
		if (!values->name)
			return message_set(
			    why, -EINVAL,
			    "a check or an experiment must be named; softfault list shows which "
			    "there are");
		if (values->replay && values->runs)
			return message_set(why, -EINVAL, "--replay runs one schedule; leave --runs out");
		return 0;
	default:
		if (values->name)
			return options_too_many(text, why);
		values->name = text;
		return 0;
	}
}

/* --- What is explored ------------------------------------------------------------------------------------
 */

struct job {
	const struct check *check;
	struct experiment *experiment;
	struct machine *machine;
	struct machine_point point;
	struct run_request request;
	const char *variants[VARIANTS_ALL_MAX + 1]; /* policies, or names; ended by NULL */
};

static void free_job(struct job *job)
{
	experiment_free(job->experiment);
	machine_free(job->machine);
}

static void choose_policies(struct job *job, const char *variant)
{
	static const char *const only[] = {"default", NULL};
	const char *const *policies = job->check->variants ? job->check->variants : only;

	for (unsigned i = 0; !variant && i < VARIANTS_ALL_MAX && policies[i]; i++)
		job->variants[i] = policies[i];
	if (variant)
		job->variants[0] = variant;
}

static int choose_variants(struct job *job, const char *variant, struct message *why)
{
	const struct experiment *experiment = job->experiment;

	if (variant && !experiment_variant(experiment, variant, why))
		return -ENOENT;
	for (unsigned i = 0; !variant && i < VARIANTS_ALL_MAX && i < experiment->variants_count; i++)
		job->variants[i] = experiment->variants[i].name;
	if (variant)
		job->variants[0] = variant;
	return 0;
}

static int prepare_experiment(struct job *job, const struct values *values, struct message *why)
{
	const struct experiment *experiment = job->experiment;
	unsigned cpus = values->cpus ? (unsigned)values->cpus : EXPERIMENT_CPUS;
	int error = choose_variants(job, values->variant, why);

	if (!error)
		error = machine_load(&job->machine, experiment->machine, why);
	if (error)
		return error;
	if (cpus > machine_cpus(job->machine, &job->machine->placement))
		return message_set(why, -EINVAL, "--cpus: machine %s has fewer than %u CPUs",
				   job->machine->shape.name, cpus);
	machine_point_of_file(job->machine, &job->point);
	job->request = (struct run_request){.engine = &engine_vsmp,
					    .experiment = experiment,
					    .machine = job->machine,
					    .point = &job->point,
					    .placement = job->machine->placement,
					    .cpus = cpus,
					    .operations = EXPLORATION_OPERATIONS,
					    .small = true};
	return 0;
}

static int prepare(struct job *job, const struct values *values, struct message *why)
{
	int error = exploration_find(values->name, &job->check, &job->experiment, why);

	if (error)
		return error;
	if (!job->check)
		return prepare_experiment(job, values, why);
	if (values->variant)
		error = exploration_check_policy(values->variant, why);
	choose_policies(job, values->variant);
	return error;
}

static struct exploration exploration_of(struct job *job, const struct values *values, const char *variant)
{
	struct exploration made = {.name = values->name,
				   .check = job->check,
				   .policy = variant,
				   .request = &job->request,
				   .strategy = values->strategy,
				   .depth = (unsigned)values->depth,
				   .seed = values->seed,
				   .runs = values->runs,
				   .jobs = values->jobs ? (unsigned)values->jobs : pool_processors()};
	struct message none;

	made.cpus = values->cpus ? (unsigned)values->cpus
		    : job->check ? engine_explorer.default_cpus(job->check)
				 : EXPERIMENT_CPUS;
	if (!made.runs)
		made.runs = job->check ? CHECK_RUNS : EXPERIMENT_RUNS;
	if (!job->check) {
		job->request.variant = experiment_variant(job->experiment, variant, &none);
		experiment_settings(job->experiment, job->request.variant, &job->request.settings);
	}
	return made;
}

/* --- What is said ----------------------------------------------------------------------------------------
 */

/* How good the search is. */
static void print_bound(const struct exploration *what, const struct exploration_result *result)
{
	if (what->strategy == EXPLORE_RANDOM)
		printf("random, %" PRIu64 " steps", result->steps);
	else
		printf("PCT, depth %u, %" PRIu64
		       " steps: finds a bug of that depth with p >= %.2g a schedule",
		       what->depth, result->steps, result->bound);
}

static void print_success(const struct exploration *what, const struct exploration_result *result)
{
	printf("%s, %u CPUs, %s: %" PRIu64 " schedules, no failure (", what->name, what->cpus,
	       what->check ? what->policy : what->request->variant->name, result->runs);
	print_bound(what, result);
	if (what->strategy == EXPLORE_PCT)
		printf(", %.2g in all", exploration_bound(result->bound, result->runs));
	puts(")");
}

static void print_report(const struct exploration *what, const struct exploration_result *result)
{
	static const char *const strategies[] = {[EXPLORE_RANDOM] = "random", [EXPLORE_PCT] = "pct"};

	printf("%s\n  ", result->report);
	print_bound(what, result);
	printf("\n  again: softfault explore %s --variant \"%s\" --cpus %u --strategy %s", what->name,
	       what->check ? what->policy : what->request->variant->name, what->cpus,
	       strategies[what->strategy]);
	if (what->strategy == EXPLORE_PCT)
		printf(" --depth %u", what->depth);
	printf(" --replay %" PRIu64 ":%016" PRIx64 "\n", result->seed, result->outcome.fingerprint);
}

static int explore_failed(const struct exploration *what, const struct exploration_result *result, int error,
			  const struct message *why)
{
	if (error != -EINTR)
		return error == -EINVAL || error == -ENOENT ? command_fail(EXIT_BAD_INPUT, why)
							    : command_run_failed(error, why);
	fflush(stdout);
	fprintf(stderr, "softfault: %s: ended after %" PRIu64 " of %" PRIu64 " schedules, ", what->name,
		result->runs, what->runs);
	if (result->failed)
		fprintf(stderr, "of which seed %" PRIu64 " failed\n", result->seed);
	else
		fprintf(stderr, "no failure so far\n");
	return command_run_failed(error, why);
}

/* Explores, or replays, one variant. Returns -1 to go on with the next, or the exit status. */
static int explore_variant(struct job *job, const struct values *values, const char *variant)
{
	struct exploration what = exploration_of(job, values, variant);
	struct exploration_result result = {0};
	struct message why = {""};
	int error, status = -1;

	terminal_progress_begin(values->name);
	if (values->replay)
		error = exploration_replay(&what, values->replay_seed,
					   values->has_fingerprint ? &values->fingerprint : NULL,
					   terminal_width(), &result, &why);
	else
		error = exploration_run(&what, terminal_width(), &result, terminal_progress_rate, &why);
	terminal_progress_end();
	if (error) {
		status = explore_failed(&what, &result, error, &why);
	} else if (result.report) {
		print_report(&what, &result);
		status = result.failed ? EXIT_RUN_FAILED : -1;
	} else {
		print_success(&what, &result);
		fflush(stdout);
	}
	free(result.report);
	return status;
}

int command_explore(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault explore",
	    .options = own,
	    .arguments = "CHECK|EXPERIMENT",
	    .about = "Runs a check, or a small form of an experiment, under many schedules of its CPUs, and "
		     "looks for races, deadlocks, lost wake-ups, uses of freed memory and broken conditions. "
		     "Ends at the first failure, with a report of it, and status 1.",
	    .take = take,
	};
	struct values values = {.strategy = EXPLORE_PCT, .depth = DEFAULT_DEPTH, .seed = 1};
	struct job job = {0};
	struct message why = {""};
	int status = options_parse(&options, argc, argv, &values);

	if (status >= 0)
		return status;
	if (prepare(&job, &values, &why)) {
		free_job(&job);
		return command_fail(EXIT_BAD_INPUT, &why);
	}
	for (unsigned i = 0; job.variants[i] && status < 0; i++)
		status = explore_variant(&job, &values, job.variants[i]);
	free_job(&job);
	return command_end(status < 0 ? 0 : status);
}
