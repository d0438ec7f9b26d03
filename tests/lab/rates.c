/* SPDX-License-Identifier: MIT */
/*
 * Published rates beside ours, on an engine whose times are known. With the seed 100 an operation takes
 * (latency x 2 CPUs + 100) ns under the lock, twice that without; the latency is 10, and assumed to be 5 to
 * 40.
 */
#include "tests/lab/fixture.h"

#include "lab/json.h"
#include "lab/report.h"
#include "tests/lab/fake_bench.h"

static void open_rates(struct bench *bench, struct prediction *prediction)
{
	char *text = fixture_experiment();

	*strstr(text, "  - variant: before\n") = '\0';
	text = fixture_replace(text, "sweep_warm_up: 1\n", "sweep_warm_up: 1\n  sweep_corners_only: true\n");
	text = fixture_replace(text, "base: default\n    what: w\npublished:\n",
			       "base: default\n    what: w\npublished:\n"
			       "  - {variant: before, cpus: 2, quantity: operations a second, value: 20e6, "
			       "unit: 1/s, kind: predicted, source: s}\n"
			       "  - {variant: after, cpus: 2, quantity: operations a second, value: 5e6, "
			       "unit: 1/s, kind: predicted, source: s}\n");
	load_bench(bench, bench_machine(), text);
	bench->cases[0] =
	    study_case(bench->experiment, experiment_variant(bench->experiment, "before", NULL), 2);
	bench->cases[1] =
	    study_case(bench->experiment, experiment_variant(bench->experiment, "after", NULL), 2);
	bench->plan.repetitions = 1;
	predict(prediction, bench);
}

static void close_rates(struct bench *bench, struct prediction *prediction)
{
	prediction_free(prediction);
	close_bench(bench);
}

static double number_at(const json_t *object, const char *key)
{
	return json_real_value(json_object_get(object, key));
}

static void tries_the_corners_alone(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct range range;

	(void)state;
	open_rates(&bench, &prediction);
	assert_int_equal(prediction.points, 2);
	range = report_rate_range(&prediction, 0);
	assert_int_equal(range.count, 3);
	assert_true(near(range.low, 2e9 / 180) && near(range.high, 2e9 / 110));
	close_rates(&bench, &prediction);
}

static void sets_rates_beside_published_ones_and_each_other(void **state)
{
	struct bench bench;
	struct prediction prediction;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	(void)state;
	open_rates(&bench, &prediction);
	out = open_memstream(&text, &bytes);
	report_prediction(out, 0, &prediction, bench.published);
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
	assert_non_null(strstr(text, "The range spans 2 points in the plausible ranges of what is assumed "
				     "about the machine: all at the\n"
				     "end that lengthens times, and all at the other. \"fitted\""));
	free(text);
	close_rates(&bench, &prediction);
}

static void writes_rates_to_json(void **state)
{
	struct bench bench;
	struct prediction prediction;
	json_t *json, *figure;

	(void)state;
	open_rates(&bench, &prediction);
	json = json_prediction(&prediction, bench.published);
	figure = json_array_get(
	    json_object_get(json_array_get(json_object_get(json, "results"), 1), "published"), 0);
	assert_string_equal(json_string_value(json_object_get(figure, "quantity")), "operations a second");
	assert_true(near(number_at(figure, "value"), 5e6));
	assert_true(near(number_at(figure, "ours"), 2e9 / 240));
	assert_true(near(number_at(json_object_get(figure, "range"), "low"), 2e9 / 360));
	assert_true(near(number_at(json_object_get(figure, "range"), "high"), 2e9 / 220));
	json_decref(json);
	close_rates(&bench, &prediction);
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
