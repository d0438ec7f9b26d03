/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/repeat.h"
#include "cli/reproduce_curve.h"
#include "cli/terminal.h"
#include "lab/figures.h"
#include "lab/files.h"
#include "lab/json.h"
#include "lab/page.h"
#include "lab/report.h"
#include "lab/shown.h"

#define SEED_MAX ((uint64_t)1 << 62)

#define DEFAULT_REPORT "reproduce.html"

enum key { KEY_REPS = 256, KEY_SEED, KEY_JSON, KEY_REPORT };

static const struct argp_option own[] = {
    {"reps", KEY_REPS, "R", 0, "repeat with R different seeds and give the median (default: 1)", 1},
    {"seed", KEY_SEED, "S", 0, "the first seed (default: 1); the same seed gives the same output", 1},
    {"report", KEY_REPORT, "FILE", 0,
     "where the page goes that shows it all (default: " DEFAULT_REPORT ", in the current folder)", 2},
    {"json", KEY_JSON, "FILE", 0, "write the results to FILE too, - for the output instead", 2},
    {0}};

struct values {
	struct names experiments;
	uint64_t reps, seed;
	const char *json, *report;
};

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;

	switch (key) {
	case KEY_REPS:
		return options_number("--reps", text, 1, 1000, &values->reps, why);
	case KEY_SEED:
		return options_number("--seed", text, 0, SEED_MAX, &values->seed, why);
	case KEY_JSON:
		values->json = text;
		return 0;
	case KEY_REPORT:
		values->report = text;
		return 0;
	case ARGP_KEY_END:
		return 0;
	default:
		return names_add(&values->experiments, text) ? message_set(why, -ENOMEM, "out of memory") : 0;
	}
}

/* One experiment, loaded and checked, and what came out of it. */
struct job {
	struct experiment *experiment;
	struct published_list *published;
	struct machine *machine;
	struct study_case *cases;
	struct study_plan plan;
	struct prediction prediction;
	struct reproduce_curve curve;
	struct shown shown;
};

static void free_job(struct job *job)
{
	prediction_free(&job->prediction);
	reproduce_curve_free(&job->curve);
	shown_free(&job->shown);
	experiment_free(job->experiment);
	published_free(job->published);
	machine_free(job->machine);
	free(job->cases);
	memset(job, 0, sizeof(*job));
}

static void free_jobs(struct job *jobs, size_t count)
{
	for (size_t i = 0; jobs && i < count; i++)
		free_job(&jobs[i]);
	free(jobs);
}

/* Of several figures of one case, whether this is the first. */
static bool is_first(const struct published_list *list, uint32_t index)
{
	const struct published *figure = &list->published[index];

	for (uint32_t i = 0; i < index; i++)
		if (published_is_of(&list->published[i], figure->variant, figure->cpus))
			return false;
	return true;
}

/* The cases for which something was published, and no more of that goes into the runs. */
static int choose_cases(struct job *job, struct message *why)
{
	job->cases = calloc(job->published->published_count + 1, sizeof(*job->cases));
	if (!job->cases)
		return message_set(why, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < job->published->published_count; i++) {
		const struct published *figure = &job->published->published[i];

		if (figure->cpus > machine_cpus(job->machine, &job->plan.placement))
			return message_set(why, -EINVAL,
					   "%s: machine %s has fewer CPUs than the published %u",
					   job->experiment->name, job->machine->shape.name, figure->cpus);
		if (!is_first(job->published, i))
			continue;
		job->cases[job->plan.case_count++] = study_case(
		    job->experiment, experiment_variant(job->experiment, figure->variant, why), figure->cpus);
	}
	job->plan.cases = job->cases;
	return 0;
}

static int prepare(struct job *job, const char *name, const struct values *values, struct message *why)
{
	struct document *document;
	int error = experiment_load(&job->experiment, name, &document, why);

	if (error)
		return error;
	error = published_load(&job->published, document, job->experiment, why);
	document_close(document);
	if (!error)
		error = machine_load(&job->machine, job->experiment->machine, why);
	if (error)
		return error;
	job->plan = (struct study_plan){.experiment = job->experiment,
					.engine = &engine_vsmp,
					.machine = job->machine,
					.placement = job->machine->placement,
					.seed = values->seed,
					.repetitions = (unsigned)values->reps,
					.operations = job->experiment->operations.simulated,
					.profile = true,
					.locks = true,
					.lines = true,
					.conflicts = true};
	error = choose_cases(job, why);
	if (!error)
		error = shown_plan(&job->shown, &job->plan, job->published, why);
	return error ? error : reproduce_curve_plan(&job->curve, &job->plan, why);
}

/* Prepares the experiments of `names` for which something was published, or that show something; with `all`
 * it passes over others. */
static int prepare_all(struct job *jobs, size_t *count, const struct values *values, bool all,
		       struct message *why)
{
	for (size_t i = 0; i < values->experiments.count; i++) {
		const char *name = values->experiments.name[i];
		int error = prepare(&jobs[(*count)++], name, values, why);

		if (error)
			return error;
		if (jobs[*count - 1].plan.case_count || jobs[*count - 1].shown.plan.case_count)
			continue;
		if (!all)
			return message_set(why, -EINVAL,
					   "the file of %s has no published figures to reproduce; "
					   "\"softfault run %s\" runs it",
					   name, name);
		free_job(&jobs[--*count]);
	}
	return 0;
}

static int run(struct job *job, struct message *why)
{
	int error = 0;

	terminal_progress_begin(job->experiment->name);
	if (job->plan.case_count) {
		error = prediction_run(&job->prediction, &job->plan, job->published, terminal_progress, why);
		if (!error)
			error =
			    reproduce_curve_run(&job->curve, &job->prediction.study, terminal_progress, why);
	}
	if (!error)
		error = shown_run(&job->shown, terminal_progress, why);
	terminal_progress_end();
	return error;
}

static void show(const struct job *job)
{
	if (job->plan.case_count)
		report_prediction(stdout, terminal_width(), &job->prediction, job->published);
	if (job->plan.case_count && job->shown.plan.case_count)
		fputc('\n', stdout);
	shown_print(stdout, terminal_width(), &job->shown, job->published);
}

static void show_machines(const struct job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool shown = false;

		for (size_t j = 0; j < i; j++)
			shown = shown || !strcmp(jobs[j].machine->path, jobs[i].machine->path);
		if (shown)
			continue;
		fputc('\n', stdout);
		report_machine(stdout, terminal_width(), jobs[i].machine);
	}
}

static json_t *experiment_json(const struct job *job)
{
	bool shown = job->shown.plan.case_count;
	json_t *one;

	if (!job->plan.case_count)
		return json_study(&job->shown.study, NULL);
	one = json_prediction(&job->prediction, job->published);
	json_object_set_new(one, "curve", reproduce_curve_json(&job->curve));
	json_object_set_new(one, "shown", shown ? json_study(&job->shown.study, NULL) : json_null());
	json_object_set_new(one, "verdicts", shown_verdicts_json(&job->shown, job->published));
	return one;
}

static json_t *to_json(const struct job *jobs, size_t count, const struct figures *figures)
{
	json_t *experiments = json_array(), *all;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(experiments, experiment_json(&jobs[i]));
	all = json_pack("{s:i, s:o, s:o}", "schema", 1, "experiments", experiments, "summary",
			figures_json(figures));
	repeat_note(all);
	return all;
}

static int write_page(FILE *out, const void *result)
{
	const struct page_file file = {"softfault reproduce", result};

	return page_write(out, &file, 1);
}

/* The page, and the JSON that it was made of if that is wanted too. */
static int write_files(const struct values *values, json_t *result, struct message *why)
{
	int error = result ? 0 : message_set(why, -ENOMEM, "out of memory");

	if (!error)
		error = output_file_write("--report", values->report, write_page, result, why);
	if (!error && values->json)
		error = json_file_write(values->json, json_incref(result), why);
	json_decref(result);
	return error;
}

static int finish(const struct job *jobs, size_t count, const struct values *values, struct message *why)
{
	struct figures figures = {0};
	int error;

	for (size_t i = 0; i < count; i++)
		if (jobs[i].plan.case_count)
			figures_add(&figures, &jobs[i].prediction, jobs[i].published);
	if (!json_file_is_stdout(values->json)) {
		show_machines(jobs, count);
		fputc('\n', stdout);
		figures_print(stdout, terminal_width(), &figures);
	}
	error = write_files(values, to_json(jobs, count, &figures), why);
	figures_free(&figures);
	if (error)
		return command_fail(EXIT_RUN_FAILED, why);
	if (!json_file_is_stdout(values->json))
		printf("\nPlots, profiles, locks and cache lines are in the report:\n  %s\n", values->report);
	return command_end(0);
}

static int run_all_jobs(struct job *jobs, size_t count, const struct values *values, struct message *why)
{
	bool quiet = json_file_is_stdout(values->json);

	for (size_t i = 0; i < count; i++) {
		int error = run(&jobs[i], why);

		if (error)
			return command_run_failed(error, why);
		if (quiet)
			continue;
		if (i)
			fputc('\n', stdout);
		show(&jobs[i]);
		fflush(stdout);
	}
	return finish(jobs, count, values, why);
}

int command_reproduce(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault reproduce",
	    .options = own,
	    .arguments = "[EXPERIMENT...]",
	    .about = "Runs every experiment, or those named, on the machine that its figures were published "
		     "for, and prints "
		     "each published figure beside ours. For ours it also prints the range that it takes "
		     "over the ranges of "
		     "what is assumed about that machine.",
	    .take = take,
	};
	struct values values = {.reps = 1, .seed = 1, .report = DEFAULT_REPORT};
	struct message why = {""};
	struct job *jobs = NULL;
	size_t count = 0;
	int error = 0;
	int status = options_parse(&options, argc, argv, &values);
	bool all = !values.experiments.count;

	if (status >= 0)
		goto out;
	if (all)
		error = files_list("experiments", &values.experiments, &why);
	if (!error) {
		jobs = calloc(values.experiments.count + 1, sizeof(*jobs));
		error = jobs ? 0 : message_set(&why, -ENOMEM, "out of memory");
	}
	if (!error)
		error = prepare_all(jobs, &count, &values, all, &why);
	if (!error && values.json)
		error = json_file_check(values.json, &why);
	if (!error)
		error = output_file_check("--report", values.report, &why);
	status = error ? command_fail(EXIT_BAD_INPUT, &why) : run_all_jobs(jobs, count, &values, &why);
	free_jobs(jobs, count);
out:
	names_free(&values.experiments);
	return status;
}
