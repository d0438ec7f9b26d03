/* SPDX-License-Identifier: MIT */
/*
 * What tests of studies and predictions run on the engine whose times are known.
 */
#ifndef TESTS_LAB_FAKE_BENCH_H
#define TESTS_LAB_FAKE_BENCH_H

#include <math.h>

#include "lab/prediction.h"
#include "lab/published.h"
#include "lab/study.h"
#include "tests/lab/fake_engine.h"

/* An experiment and a machine from their files, and a plan for all that was published. */
struct bench {
	struct experiment *experiment;
	struct published_list *published;
	struct machine *machine;
	struct study_case cases[2];
	struct study_plan plan;
};

/* The machine's file, in which remote reads are assumed: 10 cycles of 2 GHz, 5 to 40. */
static inline char *bench_machine(void)
{
	return fixture_replace(
	    fixture_machine(), "remote_read_latency: {value: 10, unit: cycles, source: \"s\"}",
	    "remote_read_latency: {value: 10, unit: cycles, assumed: \"a\", low: 5, high: 40}");
}

/* Makes the bench of both files' texts, which are freed: all that was published, but no cases yet. */
static inline void load_bench(struct bench *bench, char *machine, char *experiment)
{
	struct document *document;
	struct message why = {""};

	memset(&fake, 0, sizeof(fake));
	fixture_write("machines/m.yaml", machine);
	fixture_write("experiments/e.yaml", experiment);
	free(machine);
	free(experiment);
	if (experiment_load(&bench->experiment, "e", &document, &why) ||
	    published_load(&bench->published, document, bench->experiment, &why) ||
	    machine_load(&bench->machine, "m", &why))
		fail_msg("%s", why.text);
	document_close(document);
	bench->plan = (struct study_plan){.experiment = bench->experiment,
					  .engine = &fake_engine,
					  .machine = bench->machine,
					  .cases = bench->cases,
					  .case_count = 2,
					  .seed = 100,
					  .repetitions = 3,
					  .operations = 10};
}

/* A bandwidth is assumed too, which the formula does not know. */
static inline void open_bench(struct bench *bench, const char *home)
{
	char *text = bench_machine();

	text = fixture_replace(text, "clear_core: {value: 5, unit: GB/s, source: \"s\"}",
			       "clear_core: {value: 5, unit: GB/s, assumed: \"a\", low: 4, high: 8}");
	text = fixture_replace(text, "placement: fill\n", home);
	load_bench(bench, text, fixture_experiment());
	for (size_t i = 0; i < 2; i++)
		bench->cases[i] =
		    study_case(bench->experiment, experiment_variant(bench->experiment, "before", NULL),
			       bench->published->published[i].cpus);
}

static inline void close_bench(struct bench *bench)
{
	experiment_free(bench->experiment);
	published_free(bench->published);
	machine_free(bench->machine);
}

static inline bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static inline void predict(struct prediction *prediction, const struct bench *bench)
{
	struct message why = {""};

	if (prediction_run(prediction, &bench->plan, bench->published, NULL, &why))
		fail_msg("%s", why.text);
}

#endif
