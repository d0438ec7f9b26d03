/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/gnuplot.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "lab/export.h"
#include "lab/names.h"
#include "lab/page.h"

#define FILES_MAX    64u
#define DEFAULT_PAGE "report.html"

enum key { KEY_OUTPUT = 'o', KEY_FORMAT = 256, KEY_VARIANT, KEY_CPUS };

static const struct argp_option own[] = {
    {"output", KEY_OUTPUT, "FILE", 0,
     "where to write, - for the output (default: report.html for html, the output for others)", 1},
    {"format", KEY_FORMAT, "FORMAT", 0,
     "html, a page that needs nothing else (default); collapsed, stacks for FlameGraph and speedscope; perf, "
     "as "
     "perf report prints; csv; svg, a plot by gnuplot",
     1},
    {"variant", KEY_VARIANT, "VARIANT", 0, "only this variant; not for html", 2},
    {"cpus", KEY_CPUS, "LIST", 0, "only on so many CPUs: 1,2,4-64; not for html", 2},
    {0}};

enum format { FORMAT_HTML, FORMAT_COLLAPSED, FORMAT_PERF, FORMAT_CSV, FORMAT_SVG };

static const char *const formats[] = {[FORMAT_HTML] = "html",
				      [FORMAT_COLLAPSED] = "collapsed",
				      [FORMAT_PERF] = "perf",
				      [FORMAT_CSV] = "csv",
				      [FORMAT_SVG] = "svg"};

struct values {
	const char *paths[FILES_MAX];
	size_t count;
	const char *output, *variant;
	enum format format;
	struct cpu_list cpus;
};

static int take_format(struct values *values, const char *text, struct message *why)
{
	char suggestion[MESSAGE_BYTES / 2];

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i], text)) {
			values->format = (enum format)i;
			return 0;
		}
	names_suggest(suggestion, sizeof(suggestion), text, formats, ARRAY_SIZE(formats));
	return message_set(why, -EINVAL, "--format: there is no \"%s\"; %s", message_quote(text).text,
			   suggestion);
}

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;

	switch (key) {
	case KEY_OUTPUT:
		values->output = text;
		return 0;
	case KEY_FORMAT:
		return take_format(values, text, why);
	case KEY_VARIANT:
		values->variant = text;
		return 0;
	case KEY_CPUS:
		return cpu_list_parse(&values->cpus, text, why);
	case ARGP_KEY_END:
		if (!values->count)
			return message_set(why, -EINVAL,
					   "a result must be named, as softfault run --json writes it");
		if (values->format == FORMAT_HTML && (values->variant || values->cpus.count))
			return message_set(why, -EINVAL,
					   "%s: the page has all there is; it is for the other "
					   "formats",
					   values->variant ? "--variant" : "--cpus");
		if (!values->output)
			values->output = values->format == FORMAT_HTML ? DEFAULT_PAGE : "-";
		return 0;
	default:
		if (values->count == FILES_MAX)
			return message_set(why, -EINVAL, "at most %u files at once", FILES_MAX);
		values->paths[values->count++] = text;
		return 0;
	}
}

/* What the writers below are given. */
struct job {
	const struct values *values;
	struct result_file files[FILES_MAX];
	struct export_case *cases;
	size_t case_count;
};

static int write_page(FILE *out, const void *argument)
{
	const struct job *job = argument;
	struct page_file files[FILES_MAX];

	for (size_t i = 0; i < job->values->count; i++)
		files[i] = (struct page_file){job->values->paths[i], job->files[i].root};
	return page_write(out, files, job->values->count);
}

static int write_collapsed(FILE *out, const void *argument)
{
	const struct job *job = argument;

	return export_collapsed(out, job->cases, job->case_count, NULL);
}

static int write_perf(FILE *out, const void *argument)
{
	const struct job *job = argument;

	return export_perf(out, job->cases, job->case_count, NULL);
}

static int write_csv(FILE *out, const void *argument)
{
	const struct job *job = argument;

	export_csv(out, job->cases, job->case_count);
	return 0;
}

static int write_svg(FILE *out, const void *argument)
{
	const struct job *job = argument;

	return gnuplot_draw(out, job->cases, job->case_count);
}

static output_writer *const writers[] = {[FORMAT_HTML] = write_page,
					 [FORMAT_COLLAPSED] = write_collapsed,
					 [FORMAT_PERF] = write_perf,
					 [FORMAT_CSV] = write_csv,
					 [FORMAT_SVG] = write_svg};

static bool has_stacks(const struct job *job)
{
	for (size_t i = 0; i < job->case_count; i++)
		if (json_array_size(json_object_get(job->cases[i].result, "stacks")))
			return true;
	return false;
}

/* All that can be wrong, before anything is written. */
static int prepare(struct job *job, struct message *why)
{
	const struct values *values = job->values;
	struct export_choice choice = {job->files, values->count, values->variant, &values->cpus};
	int error = 0;

	for (size_t i = 0; i < values->count && !error; i++)
		error = result_file_read(&job->files[i], values->paths[i], why);
	if (error)
		return error;
	job->cases = export_cases(&choice, &job->case_count);
	if (!job->case_count)
		return message_set(why, -EINVAL,
				   "no case of these results is on so many CPUs, or of that variant");
	if ((values->format == FORMAT_COLLAPSED || values->format == FORMAT_PERF) && !has_stacks(job))
		return message_set(why, -EINVAL,
				   "there is no profile in these results; run with --profile --json FILE");
	if (values->format == FORMAT_SVG)
		error = gnuplot_check(why);
	return error ? error : output_file_check("--output", values->output, why);
}

int command_report(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault report",
	    .options = own,
	    .arguments = "FILE.json...",
	    .about = "Makes of results, as run --json and reproduce --json write them, one page of HTML: "
		     "published "
		     "figures beside ours, scalability, where the time goes, locks, cache lines, conflicts. "
		     "It opens "
		     "without a network. Or writes them in a format that other programs read.",
	    .take = take,
	};
	struct values values = {0};
	struct job *job;
	struct message why = {""};
	int error, status = options_parse(&options, argc, argv, &values);

	if (status >= 0)
		return status;
	job = calloc(1, sizeof(*job));
	if (!job) {
		message_set(&why, -ENOMEM, "out of memory");
		return command_fail(EXIT_RUN_FAILED, &why);
	}
	job->values = &values;
	error = prepare(job, &why);
	if (error)
		status = command_fail(EXIT_BAD_INPUT, &why);
	else if (output_file_write("--output", values.output, writers[values.format], job, &why))
		status = command_fail(EXIT_RUN_FAILED, &why);
	else
		status = command_end(0);
	for (size_t i = 0; i < values.count; i++)
		result_file_close(&job->files[i]);
	free(job->cases);
	free(job);
	return status;
}
