/* SPDX-License-Identifier: MIT */
/*
 * In which order a study runs its cases, and that each result comes to its place.
 */
#include "tests/lab/fixture.h"

#include "lab/json.h"
#include "tests/lab/fake_bench.h"

/* A B B A A B: and simulated ones, to which time does nothing, in the order of their numbers. */
static void takes_turns_on_real_cpus(void **state)
{
	static const size_t there_and_back[] = {0, 3, 4, 1, 2, 5};
	struct bench bench;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	for (size_t step = 0; step < 6; step++)
		assert_int_equal(study_order(&bench.plan, step), step);
	bench.plan.machine = NULL;
	for (size_t step = 0; step < 6; step++)
		assert_int_equal(study_order(&bench.plan, step), there_and_back[step]);
	close_bench(&bench);
}

static size_t runs;

static void count_runs(size_t done, size_t count)
{
	(void)done;
	runs = count;
}

static void brings_each_result_to_its_place(void **state)
{
	struct bench bench;
	struct study study;
	struct message why = {""};
	json_t *json;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	bench.plan.machine = NULL;
	if (study_run(&study, &bench.plan, count_runs, &why))
		fail_msg("%s", why.text);
	/* Each case once more, to warm up. */
	assert_int_equal(runs, 8);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 3; j++) {
			double expected = 10.0 * bench.cases[i].cpus + 100 + (double)j;

			assert_true(study.rows[i].samples_ns[j] > expected - 1e-6 &&
				    study.rows[i].samples_ns[j] < expected + 1e-6);
		}
	assert_true(study.computer.processors > 0);
	assert_string_not_equal(study.computer.kernel, "unknown");
	json = json_study(&study, NULL);
	assert_true(json_is_object(json_object_get(json, "computer")));
	assert_true(json_is_null(json_object_get(json, "machine_details")));
	json_decref(json);
	study_free(&study);
	close_bench(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(takes_turns_on_real_cpus, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(brings_each_result_to_its_place, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
