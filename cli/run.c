/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/options.h"
#include "cli/repeat.h"
#include "cli/run_what_if.h"
#include "cli/terminal.h"
#include "lab/cpu_list.h"
#include "lab/json.h"
#include "lab/measured.h"
#include "lab/placement.h"
#include "lab/report.h"
#include "lab/scaling.h"

#define SEED_MAX        ((uint64_t)1 << 62)
#define REPETITIONS_MAX 1000
#define FAULTS_MAX      1000000000ull
#define PAGE_BYTES      4096ull

/* On real CPUs an operation costs us nothing but its time, and a short run measures noise. */
#define REAL_OPERATIONS  65536
#define REAL_REPETITIONS 5

enum key {
	KEY_ENGINE = 256,
	KEY_MACHINE,
	KEY_CPUS,
	KEY_VARIANT,
	KEY_FAULTS,
	KEY_REPS,
	KEY_SEED,
	KEY_PLACEMENT,
	KEY_LAYOUT,
	KEY_TOUCH,
	KEY_GIVE_BACK,
	KEY_PACE,
	KEY_BACKING,
	KEY_GROUP,
	KEY_SPACES,
	KEY_ROUND,
	KEY_ONLY,
	KEY_PATTERN,
	KEY_MAPPINGS,
	KEY_FAULTERS,
	KEY_BYTES,
	KEY_PROFILE,
	KEY_LOCKS,
	KEY_LINES,
	KEY_CONFLICTS,
	KEY_SPEEDUP,
	KEY_MACHINE_SET,
	KEY_JSON
};

static const struct argp_option own[] = {
    {"engine", KEY_ENGINE, "LIST", 0,
     "vsmp, the simulated machine (default); host, threads of this one; linux, "
     "the running kernel; host,linux sets one beside the other",
     1},
    {"machine", KEY_MACHINE, "MACHINE", 0, "simulate this one (default: the experiment's)", 1},
    {"cpus", KEY_CPUS, "LIST", 0,
     "how many CPUs: 1,2,4-64; a range doubles from its first to its last, so 4-64 is "
     "4,8,16,32,64",
     1},
    {"placement", KEY_PLACEMENT, "KIND[:N]", 0,
     "where the CPUs sit: fill, spread or compact, with N at most in a "
     "socket (default: the machine's)",
     1},
    {"variant", KEY_VARIANT, "LIST", 0, "only these variants: A,B (default: all)", 2},
    {"faults", KEY_FAULTS, "N", 0, "measure N operations of each CPU (default: the experiment's)", 2},
    {"reps", KEY_REPS, "R", 0, "repeat with R different seeds and give the median (default: 1; host 5)", 2},
    {"seed", KEY_SEED, "S", 0, "the first seed (default: 1); the same seed gives the same output", 2},
    {"layout", KEY_LAYOUT, "one|each|slices|same", 0,
     "anon-fault: threads have one VMA, or one each; shared-fault: each has pages of its own, or all have "
     "the same (default: the variant's)",
     3},
    {"touch", KEY_TOUCH, "write|read", 0, "how pages are touched (default: the variant's)", 3},
    {"give-back", KEY_GIVE_BACK, "dontneed|unmap|never", 0,
     "how threads give their pages back: by advice, by unmapping, or not at all, going on to fresh memory "
     "(default: the variant's)",
     3},
    {"pace", KEY_PACE, "together|apart", 0,
     "whether threads wait for each other in each round (default: the variant's)", 3},
    {"backing", KEY_BACKING, "anon|file", 0,
     "what is shared: anonymous memory, or a file of a memory file system (default: the variant's)", 3},
    {"group", KEY_GROUP, "root|one|each|deep", 0,
     "the memory group of the tasks: the root, one below it, one each, or one at the third level "
     "(default: the variant's)",
     3},
    {"spaces", KEY_SPACES, "each|one", 0,
     "an address space for each task, or one for all (default: the variant's)", 3},
    {"round", KEY_ROUND, "short|real", 0,
     "of a simulated task: in proportion, or of 128 MiB (default: the variant's)", 3},
    {"only", KEY_ONLY, "all|anonymous|shared|file|pfn|map|fork|limit", 0,
     "whole: the mechanisms that are at work (default: the variant's)", 3},
    {"pattern", KEY_PATTERN, "uniform|zipf", 0,
     "over-commit: which pages are touched how often (default: the variant's)", 3},
    {"mappings", KEY_MAPPINGS, "32|1|8|128", 0,
     "reclaim-copy: how many processes map the memory that is aged (default: the variant's)", 3},
    {"faulters", KEY_FAULTERS, "own|same|storm", 0,
     "reclaim-copy: CPUs touch memory of their own processes, or of all; or all but one fault in one of them "
     "all the "
     "time (default: the variant's)",
     3},
    {"bytes", KEY_BYTES, "N", 0,
     "reclaim-copy: copy a file of N bytes, on the most of the CPUs (instead of --faults)", 2},
    {"profile", KEY_PROFILE, NULL, 0, "show where the time goes, by function and its callers", 4},
    {"locks", KEY_LOCKS, NULL, 0, "show lock statistics", 4},
    {"lines", KEY_LINES, NULL, 0, "show the contended cache lines", 4},
    {"conflicts", KEY_CONFLICTS, NULL, 0, "show the lines on which operations meet", 4},
    {"speedup", KEY_SPEEDUP, "SYMBOL=PERCENT", 0,
     "what if this function, with what it calls, cost so much less? May be given several times", 5},
    {"machine-set", KEY_MACHINE_SET, "KEY=VALUE", 0,
     "what if the machine's figure KEY were VALUE? May be given several times", 5},
    {"json", KEY_JSON, "FILE", 0, "write the results to FILE too, - for the output instead", 5},
    {0}};

#define ENGINES_MAX 3u

/* Options of workloads, by their keys from KEY_LAYOUT on. */
static const char *const workload_options[] = {"layout",  "touch",   "give_back", "pace",
					       "backing", "group",   "spaces",    "round",
					       "only",    "pattern", "mappings",  "faulters"};

/* The command line. */
struct values {
	const char *experiment, *engines, *machine, *variants, *json;
	const char *choices[ARRAY_SIZE(workload_options)]; /* NULL: the variant's */
	struct vsmp_placement placement;
	struct cpu_list cpus;
	bool placed, profile, locks, lines, conflicts;
	uint64_t faults, bytes, reps, seed;
	struct what_if what_if;
};

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;

	switch (key) {
	case KEY_ENGINE:
		values->engines = text;
		return 0;
	case KEY_MACHINE:
		values->machine = text;
		return 0;
	case KEY_CPUS:
		return cpu_list_parse(&values->cpus, text, why);
	case KEY_PLACEMENT:
		values->placed = true;
		return placement_parse(&values->placement, text, why);
	case KEY_VARIANT:
		values->variants = text;
		return 0;
	case KEY_FAULTS:
		return options_number("--faults", text, 1, FAULTS_MAX, &values->faults, why);
	case KEY_BYTES:
		return options_number("--bytes", text, PAGE_BYTES, PAGE_BYTES * FAULTS_MAX, &values->bytes,
				      why);
	case KEY_REPS:
		return options_number("--reps", text, 1, REPETITIONS_MAX, &values->reps, why);
	case KEY_SEED:
		return options_number("--seed", text, 0, SEED_MAX, &values->seed, why);
	case KEY_LAYOUT:
	case KEY_TOUCH:
	case KEY_GIVE_BACK:
	case KEY_PACE:
	case KEY_BACKING:
	case KEY_GROUP:
	case KEY_SPACES:
	case KEY_ROUND:
	case KEY_ONLY:
	case KEY_PATTERN:
	case KEY_MAPPINGS:
	case KEY_FAULTERS:
		values->choices[key - KEY_LAYOUT] = text;
		return 0;
	case KEY_PROFILE:
		values->profile = true;
		return 0;
	case KEY_LOCKS:
		values->locks = true;
		return 0;
	case KEY_LINES:
		values->lines = true;
		return 0;
	case KEY_CONFLICTS:
		values->conflicts = true;
		return 0;
	case KEY_SPEEDUP:
		return what_if_add_speedup(&values->what_if, text, why);
	case KEY_MACHINE_SET:
		return what_if_add_set(&values->what_if, text, why);
	case KEY_JSON:
		values->json = text;
		return 0;
	case ARGP_KEY_END:
		return values->experiment ? 0
					  : message_set(why, -EINVAL,
							"an experiment must be named; softfault list "
							"shows which there are");
	default:
		if (values->experiment)
			return options_too_many(text, why);
		values->experiment = text;
		return 0;
	}
}

/* All that a run needs, loaded and checked; one study for each engine. */
struct job {
	struct experiment *experiment;
	struct published_list *published;
	struct machine *machine; /* only of a simulated run */
	struct vsmp_placement placement;
	const struct engine *engines[ENGINES_MAX];
	struct study_case *cases[ENGINES_MAX];
	struct study_plan plans[ENGINES_MAX];
	struct study studies[ENGINES_MAX];
	unsigned count;
	struct run_as_is as_is; /* of a what-if run */
};

static void free_job(struct job *job)
{
	for (unsigned i = 0; i < ENGINES_MAX; i++) {
		study_free(&job->studies[i]);
		free(job->cases[i]);
	}
	run_what_if_free(&job->as_is);
	experiment_free(job->experiment);
	published_free(job->published);
	machine_free(job->machine);
}

static int load_experiment(struct job *job, const char *name, struct message *why)
{
	struct document *document;
	int error = experiment_load(&job->experiment, name, &document, why);

	if (error)
		return error;
	error = published_load(&job->published, document, job->experiment, why);
	document_close(document);
	return error;
}

/* Whether an engine that does not simulate can show what was asked for. */
static int check_observations(const struct engine *engine, const struct values *values, struct message *why)
{
	struct message reason = {""};

	if (values->locks || values->lines || values->conflicts || (values->profile && !engine->can_profile))
		return message_set(why, -EINVAL, "engine %s cannot show %s; use --engine vsmp", engine->name,
				   values->locks       ? "locks"
				   : values->lines     ? "cache lines"
				   : values->conflicts ? "conflicts"
						       : "a profile");
	if (values->profile && engine->can_profile(&reason))
		return message_set(why, -EINVAL, "engine %s cannot show a profile: %s", engine->name,
				   reason.text);
	return 0;
}

static int check_engine(const struct job *job, const struct engine *engine, const struct values *values,
			struct message *why)
{
	const char *refusal = workload_find(job->experiment->workload, why)->refusal(engine);

	if (refusal)
		return message_set(why, -EOPNOTSUPP,
				   "%s cannot run on engine %s: %s; use --engine vsmp or host",
				   job->experiment->name, engine->name, refusal);
	if (run_is_simulated(engine))
		return 0;
	if (values->machine || values->placed)
		return message_set(why, -EINVAL, "engine %s runs on this computer; %s is for --engine vsmp",
				   engine->name, values->machine ? "--machine" : "--placement");
	return check_observations(engine, values, why);
}

static int choose_engines(struct job *job, const struct values *values, struct message *why)
{
	for (const char *at = values->engines; at;) {
		size_t length = strcspn(at, ",");
		const struct engine *engine;
		char name[64];
		int error;

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		engine = run_engine(name, why);
		if (!engine)
			return -ENOENT;
		for (unsigned i = 0; i < job->count; i++)
			if (job->engines[i] == engine)
				return message_set(why, -EINVAL, "--engine: %s is there twice", name);
		error = check_engine(job, engine, values, why);
		if (error)
			return error;
		job->engines[job->count++] = engine;
		at = at[length] ? at + length + 1 : NULL;
	}
	for (unsigned i = 0; job->count > 1 && i < job->count; i++)
		if (run_is_simulated(job->engines[i]))
			return message_set(why, -EINVAL,
					   "--engine: %s cannot stand beside another: its time is not this "
					   "computer's",
					   job->engines[i]->name);
	return 0;
}

static unsigned real_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* The experiment's list on a simulated machine; here, doubling up to what this computer has. */
static int choose_cpus(struct job *job, struct cpu_list *cpus, struct message *why)
{
	bool given = cpus->count > 0;
	unsigned most;

	if (job->machine) {
		most = machine_cpus(job->machine, &job->placement);
		for (uint32_t i = 0; !given && i < job->experiment->cpus_count; i++)
			if (job->experiment->cpus[i] <= most)
				cpu_list_add(cpus, job->experiment->cpus[i]);
	} else {
		most = job->engines[0]->cpus();
		for (unsigned i = 1; !given && i <= real_cpus() && i <= most && i <= CPU_LIST_MAX; i *= 2)
			cpu_list_add(cpus, i);
	}
	if (!cpus->count)
		cpu_list_add(cpus, most);
	if (cpus->cpus[cpus->count - 1] <= most)
		return 0;
	return message_set(why, -EINVAL, "--cpus: %u is more than the %u CPUs that %s%s%s has",
			   cpus->cpus[cpus->count - 1], most, job->machine ? "machine " : "engine ",
			   job->machine ? job->machine->shape.name : job->engines[0]->name,
			   job->placement.cpus_per_socket ? ", so placed," : "");
}

/*
 * Threads that take turns on a processor wait for each other's time slices, or have run one after the other:
 * times say nothing of locks, and rates add up what was never at the same time.
 */
static void warn_of_turns(const struct job *job, const struct cpu_list *cpus)
{
	unsigned most = cpus->cpus[cpus->count - 1];

	if (!job->machine && most > real_cpus())
		fprintf(stderr,
			"softfault: warning: %u CPUs are more than the %u processors of this computer; they "
			"take turns, so neither times nor rates say how it scales\n",
			most, real_cpus());
}

static bool is_chosen(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static int check_variants(const struct experiment *experiment, const char *variants, struct message *why)
{
	for (const char *at = variants; at;) {
		size_t length = strcspn(at, ",");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!experiment_variant(experiment, name, why))
			return -ENOENT;
		at = at[length] ? at + length + 1 : NULL;
	}
	return 0;
}

/* What the command line says of the workload goes before what the variant says. */
static int choose_settings(const struct values *values, const struct experiment *experiment,
			   struct workload_settings *settings, struct message *why)
{
	const struct workload *workload = workload_find(experiment->workload, why);

	for (size_t i = 0; i < ARRAY_SIZE(workload_options); i++)
		if (values->choices[i] &&
		    workload_choose(workload, settings, workload_options[i], values->choices[i], why))
			return -ENOENT;
	return 0;
}

/* The running kernel has no variants: one case for each way in which the workload is run. */
static bool is_done_already(const struct engine *engine, const struct study_case *cases, size_t count,
			    const struct study_case *what)
{
	for (size_t i = 0; engine->kernel && i < count; i++)
		if (cases[i].cpus == what->cpus &&
		    !memcmp(&cases[i].settings, &what->settings, sizeof(what->settings)))
			return true;
	return false;
}

/* Each variant that was asked for, on each number of CPUs. */
static int choose_cases(struct job *job, unsigned engine, const struct values *values,
			const struct cpu_list *cpus, struct message *why)
{
	const struct experiment *experiment = job->experiment;
	struct study_plan *plan = &job->plans[engine];
	struct study_case *cases =
	    calloc((size_t)experiment->variants_count * cpus->count, sizeof(*job->cases[engine]));

	job->cases[engine] = cases;
	plan->cases = cases;
	if (!cases)
		return message_set(why, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < experiment->variants_count; i++) {
		const struct experiment_variant *variant = &experiment->variants[i];

		if (values->variants && !is_chosen(values->variants, variant->name))
			continue;
		for (unsigned j = 0; j < cpus->count; j++) {
			struct study_case what = study_case(experiment, variant, cpus->cpus[j]);

			if (choose_settings(values, experiment, &what.settings, why))
				return -ENOENT;
			if (!is_done_already(job->engines[engine], cases, plan->case_count, &what))
				cases[plan->case_count++] = what;
		}
	}
	return 0;
}

static uint64_t choose_operations(const struct job *job, const struct values *values)
{
	unsigned most = values->cpus.cpus[values->cpus.count - 1];
	uint64_t published = job->experiment->operations.published;

	if (values->faults)
		return values->faults;
	if (values->bytes)
		return values->bytes / PAGE_BYTES / most > 0 ? values->bytes / PAGE_BYTES / most : 1;
	if (job->machine)
		return job->experiment->operations.simulated;
	return published && published < REAL_OPERATIONS ? published : REAL_OPERATIONS;
}

static void make_plan(const struct job *job, unsigned engine, const struct values *values,
		      struct study_plan *plan)
{
	plan->experiment = job->experiment;
	plan->engine = job->engines[engine];
	plan->machine = job->machine;
	plan->placement = job->placement;
	plan->seed = values->seed;
	plan->repetitions = (unsigned)values->reps;
	if (!plan->repetitions)
		plan->repetitions = job->machine ? 1 : REAL_REPETITIONS;
	plan->operations = choose_operations(job, values);
	plan->profile = values->profile;
	plan->locks = values->locks;
	plan->lines = values->lines;
	plan->conflicts = values->conflicts;
	plan->limits = job->machine && values->cpus.count >= SCALING_POINTS_MIN;
}

static int prepare(struct job *job, struct values *values, struct message *why)
{
	int error = load_experiment(job, values->experiment, why);

	if (!error)
		error = choose_engines(job, values, why);
	if (!error && run_is_simulated(job->engines[0])) {
		error = machine_load(&job->machine,
				     values->machine ? values->machine : job->experiment->machine, why);
		if (!error)
			job->placement = values->placed ? values->placement : job->machine->placement;
	}
	if (!error)
		error = choose_cpus(job, &values->cpus, why);
	if (!error)
		error = check_variants(job->experiment, values->variants, why);
	if (!error && values->bytes && (values->faults || strcmp(job->experiment->workload, "reclaim_copy")))
		error = message_set(why, -EINVAL, "--bytes: %s",
				    values->faults ? "--faults says how much is done already"
						   : "only reclaim-copy copies a file; --faults is for all");
	for (unsigned i = 0; !error && i < job->count; i++) {
		make_plan(job, i, values, &job->plans[i]);
		error = choose_cases(job, i, values, &values->cpus, why);
	}
	if (!error && !what_if_is_empty(&values->what_if))
		error = run_what_if_prepare(&job->as_is, &values->what_if, job->machine, &job->plans[0], why);
	if (!error && values->json)
		error = json_file_check(values->json, why);
	return error;
}

static int show(const struct job *job, const struct values *values, struct message *why)
{
	const struct study *as_is = what_if_is_empty(&values->what_if) ? NULL : &job->as_is.study;
	/* What the machine does not do is not set beside what was measured on it. */
	const struct published_list *published =
	    as_is ? NULL : report_comparable(&job->studies[0], job->published);
	bool quiet = json_file_is_stdout(values->json);
	json_t *json = NULL;

	for (unsigned i = 0; !quiet && i < job->count; i++) {
		report_study(stdout, terminal_width(), &job->studies[i], published);
		if (as_is)
			report_what_if(stdout, terminal_width(), as_is, &job->studies[0]);
		report_scaling(stdout, terminal_width(), &job->studies[i]);
		measured_print(stdout, terminal_width(), &job->studies[i]);
		measured_print_alone(stdout, terminal_width(), &job->studies[i]);
		report_observations(stdout, terminal_width(), &job->studies[i]);
		if (job->count > 1)
			fputc('\n', stdout);
	}
	if (!quiet && job->count > 1)
		report_engines(stdout, terminal_width(), job->studies, job->count);
	if (values->json)
		json = job->count > 1 ? json_engines(job->studies, job->count)
		       : as_is        ? json_what_if(&job->studies[0], as_is)
				      : json_study(&job->studies[0], published);
	repeat_note(json);
	if (values->json && json_file_write(values->json, json, why))
		return command_fail(EXIT_RUN_FAILED, why);
	return command_end(0);
}

int command_run(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault run",
	    .options = own,
	    .arguments = "EXPERIMENT",
	    .about = "Runs one experiment and prints what each variant takes on each number of CPUs.",
	    .take = take,
	};
	struct values values = {.engines = "vsmp", .seed = 1};
	struct job job = {0};
	struct message why = {""};
	int error = 0, status = options_parse(&options, argc, argv, &values);

	if (status >= 0)
		return status;
	if (prepare(&job, &values, &why)) {
		free_job(&job);
		return command_fail(EXIT_BAD_INPUT, &why);
	}
	warn_of_turns(&job, &values.cpus);
	if (!what_if_is_empty(&values.what_if)) {
		terminal_progress_begin("as it is");
		error = study_run(&job.as_is.study, &job.as_is.plan, terminal_progress, &why);
		terminal_progress_end();
	}
	for (unsigned i = 0; i < job.count && !error; i++) {
		terminal_progress_begin(job.experiment->name);
		error = study_run(&job.studies[i], &job.plans[i], terminal_progress, &why);
		terminal_progress_end();
	}
	status = error ? command_run_failed(error, &why) : show(&job, &values, &why);
	free_job(&job);
	return status;
}
