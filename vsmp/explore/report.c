/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/explore/record.h"

/* How many runs may be spent to find a shorter schedule; an experiment's takes long. */
#define CHECK_RUNS_MAX      2000u
#define EXPERIMENT_RUNS_MAX 200u

static int make_text(char **text, const char *format, ...) PRINTF_LIKE(2, 3);

static int make_text(char **text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(text, format, arguments);
	va_end(arguments);
	return length < 0 ? -ENOMEM : 0;
}

static bool is_expected(const struct explore_outcome *got, const struct explore_outcome *expected)
{
	return !expected || (got->kind == expected->kind && got->fingerprint == expected->fingerprint);
}

static int report_difference(const char *title, const struct explore_outcome *expected,
			     const struct explore_outcome *got, char **text)
{
	return make_text(text,
			 "%s: %s went another way than before\n"
			 "  before  fingerprint %016llx\n"
			 "  now     fingerprint %016llx, %s, %llu steps\n"
			 "Was the code, the check, the policy, the number of CPUs, the strategy or the depth "
			 "another one? If\n"
			 "none was, the code under test depends on something that is not simulated.\n",
			 explore_kind_name(EXPLORE_REPLAY), title, (unsigned long long)expected->fingerprint,
			 (unsigned long long)got->fingerprint, explore_kind_name(got->kind),
			 (unsigned long long)got->steps);
}

/* How schedules are run for a report. */
struct source {
	struct explore_outcome (*run)(void *argument); /* the one to report */
	void *argument;
	minimise_run *run_forced;
	unsigned runs_max;
};

static int report_failure(const struct source *source, const char *title, unsigned columns, char **text)
{
	/* Where its switches cannot be forced, the schedule is shown as it was. */
	if (!minimise(source->run_forced, source->runs_max)) {
		record_level = RECORD_EVENTS;
		source->run(source->argument);
	}
	*text = print_report(title, columns);
	return *text ? 0 : -ENOMEM;
}

static int report(const struct source *source, const char *title, const struct explore_outcome *expected,
		  unsigned columns, char **text, struct explore_outcome *outcome)
{
	struct explore_outcome got;
	int error;

	/* An experiment sets up before its schedule begins. */
	record_begin();
	record_level = RECORD_EVENTS;
	got = source->run(source->argument);
	if (!is_expected(&got, expected)) {
		error = report_difference(title, expected, &got, text);
		got.kind = EXPLORE_REPLAY;
	} else if (got.kind == EXPLORE_NOTHING) {
		error =
		    make_text(text, "%s: no failure in %llu steps\n", title, (unsigned long long)got.steps);
	} else {
		error = report_failure(source, title, columns, text);
	}
	record_close();
	if (outcome)
		*outcome = got;
	return error;
}

/* --- A check ---------------------------------------------------------------------------------------------
 */

static struct explore_outcome run_seed(void *argument)
{
	return explore_run(*(const uint64_t *)argument);
}

static void run_forced(const struct explore_segment *segments, size_t count)
{
	explore_run_forced(segments, count);
}

int explore_report(uint64_t seed, const struct explore_outcome *expected, unsigned columns, char **text,
		   struct explore_outcome *outcome)
{
	const struct explore_config *config = explore_configuration();
	const struct source source = {
	    .run = run_seed, .argument = &seed, .run_forced = run_forced, .runs_max = CHECK_RUNS_MAX};
	char title[256];

	snprintf(title, sizeof(title), "%s, %s, %u CPUs, seed %llu", config->check->name,
		 config->policy ? config->policy : "default",
		 config->cpus ? config->cpus : explore_default_cpus(config->check), (unsigned long long)seed);
	return report(&source, title, expected, columns, text, outcome);
}

/* --- An experiment ---------------------------------------------------------------------------------------
 */

static const struct source *experiment;

static void run_experiment_forced(const struct explore_segment *segments, size_t count)
{
	explore_schedule_force(segments, count);
	experiment->run(experiment->argument);
	explore_schedule_force(NULL, 0);
}

int explore_schedule_report(struct explore_outcome (*again)(void *argument), void *argument,
			    const char *title, const struct explore_outcome *expected, unsigned columns,
			    char **text, struct explore_outcome *outcome)
{
	const struct source source = {.run = again,
				      .argument = argument,
				      .run_forced = run_experiment_forced,
				      .runs_max = EXPERIMENT_RUNS_MAX};

	experiment = &source;
	return report(&source, title, expected, columns, text, outcome);
}
