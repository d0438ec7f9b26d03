/* SPDX-License-Identifier: MIT */
/*
 * Published rates beside ours, on an engine whose times are known. With the seed 100 an operation takes
 * (latency x 2 CPUs + 100) ns under the lock, twice that without; the latency is 10, and assumed to be 5 to
 * 40.
 */
#include "tests/lab/fixture.h"

#include <errno.h>
#include <math.h>

#include "lab/json.h"
#include "lab/report.h"
#include "tests/lab/fake_engine.h"

struct bench {
	struct experiment *experiment;
	struct published_list *published;
	struct machine *machine;
	struct study_case cases[2];
	struct prediction prediction;
};

static void open_bench(struct bench *bench)
{
	char *text = fixture_machine();
	struct document *document;
	struct message why = {""};
	struct study_plan plan = {
	    .engine = &fake_engine, .case_count = 2, .seed = 100, .repetitions = 1, .operations = 10};

	memset(&fake, 0, sizeof(fake));
	text = fixture_replace(
	    text, "remote_read_latency: {value: 10, unit: cycles, source: \"s\"}",
	    "remote_read_latency: {value: 10, unit: cycles, assumed: \"a\", low: 5, high: 40}");
	fixture_write("machines/m.yaml", text);
	free(text);
	text = fixture_experiment();
	*strstr(text, "  - variant: before\n") = '\0';
	text = fixture_replace(text, "sweep_warm_up: 1\n", "sweep_warm_up: 1\n  sweep_corners_only: true\n");
	text = fixture_replace(text, "base: default\n    what: w\npublished:\n",
			       "base: default\n    what: w\npublished:\n"
			       "  - {variant: before, cpus: 2, quantity: operations a second, value: 20e6, "
			       "unit: 1/s, kind: predicted, source: s}\n"
			       "  - {variant: after, cpus: 2, quantity: operations a second, value: 5e6, "
			       "unit: 1/s, kind: predicted, source: s}\n");
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (experiment_load(&bench->experiment, "e", &document, &why) ||
	    published_load(&bench->published, document, bench->experiment, &why) ||
	    machine_load(&bench->machine, "m", &why))
		fail_msg("%s", why.text);
	document_close(document);
	bench->cases[0] =
	    study_case(bench->experiment, experiment_variant(bench->experiment, "before", NULL), 2);
	bench->cases[1] =
	    study_case(bench->experiment, experiment_variant(bench->experiment, "after", NULL), 2);
	plan.experiment = bench->experiment;
	plan.machine = bench->machine;
	plan.cases = bench->cases;
	if (prediction_run(&bench->prediction, &plan, bench->published, NULL, &why))
		fail_msg("%s", why.text);
}

static void close_bench(struct bench *bench)
{
	prediction_free(&bench->prediction);
	experiment_free(bench->experiment);
	published_free(bench->published);
	machine_free(bench->machine);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static double number_at(const json_t *object, const char *key)
{
	return json_real_value(json_object_get(object, key));
}

static void tries_the_corners_alone(void **state)
{
	struct bench bench;
	struct range range;

	(void)state;
	open_bench(&bench);
	assert_int_equal(bench.prediction.points, 2);
	range = report_rate_range(&bench.prediction, 0);
	assert_int_equal(range.count, 3);
	assert_true(near(range.low, 2e9 / 180) && near(range.high, 2e9 / 110));
	close_bench(&bench);
}

static void sets_rates_beside_published_ones_and_each_other(void **state)
{
	struct bench bench;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	(void)state;
	open_bench(&bench);
	out = open_memstream(&text, &bytes);
	report_prediction(out, 0, &bench.prediction, bench.published);
	fclose(out);
	assert_non_null(strstr(
	    text, "variant         CPUs  published (million/s)  ours (million/s)  ours/published  kind       "
		  "range over assumptions\n"
		  "before             2                   20.0              16.7           0.833  predicted  "
		  "          11.1 to 18.2\n"
		  "after              2                   5.00              8.33            1.67  predicted  "
		  "          5.56 to 9.09\n"
		  "after : before     2                  0.250             0.500            2.00  predicted  "
		  "        0.500 to 0.500\n"));
	assert_non_null(strstr(text, "of what is assumed about the machine: all at the"));
	free(text);
	close_bench(&bench);
}

static void writes_rates_to_json(void **state)
{
	struct bench bench;
	json_t *json, *figure;

	(void)state;
	open_bench(&bench);
	json = json_prediction(&bench.prediction, bench.published);
	figure = json_array_get(
	    json_object_get(json_array_get(json_object_get(json, "results"), 1), "published"), 0);
	assert_string_equal(json_string_value(json_object_get(figure, "quantity")), "operations a second");
	assert_true(near(number_at(figure, "value"), 5e6));
	assert_true(near(number_at(figure, "ours"), 2e9 / 240));
	assert_true(near(number_at(json_object_get(figure, "range"), "low"), 2e9 / 360));
	assert_true(near(number_at(json_object_get(figure, "range"), "high"), 2e9 / 220));
	json_decref(json);
	close_bench(&bench);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_FILES(tries_the_corners_alone),
	    WITH_FILES(sets_rates_beside_published_ones_and_each_other),
	    WITH_FILES(writes_rates_to_json),
	};

	return cmocka_run_group_tests_name("lab/rates", tests, NULL, NULL);
}
