/* SPDX-License-Identifier: MIT */
/*
 * Studies on an engine whose times are known, and what is reported of them.
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/json.h"
#include "lab/report.h"
#include "lab/statistics.h"
#include "tests/lab/fake_bench.h"

static void takes_the_median_of_seeds(void **state)
{
	struct bench bench;
	struct study study;
	struct message why = {""};

	(void)state;
	open_bench(&bench, "placement: fill\n");
	if (study_run(&study, &bench.plan, NULL, &why))
		fail_msg("%s", why.text);
	/* Two CPUs: 10 x 2 + seed. */
	assert_true(near(study.rows[0].samples_ns[0], 120));
	assert_true(near(study.rows[0].samples_ns[2], 122));
	assert_true(near(study.rows[0].ns_per_operation, 121));
	assert_true(near(study.rows[1].ns_per_operation, 181));
	assert_true(near(study.rows[0].operations_per_second, 2e9 / 121));
	assert_true(near(study.rows[0].seconds, 121e-9 * 1000));
	assert_int_equal(study.rows[1].observed->outcome.timing.operations, 80);
	assert_int_equal(study.rows[1].observed->report.transfers, 240);
	study_free(&study);
	close_bench(&bench);
}

/* Prints the observations of a study. */
static char *observations(const struct study *study)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	report_observations(out, 0, study);
	fclose(out);
	return text;
}

static void warns_of_dropped_events(void **state)
{
	struct bench bench;
	struct study study;
	struct message why = {""};
	char *text;
	json_t *json;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	for (uint64_t dropped = 0; dropped <= 7; dropped += 7) {
		fake.dropped = dropped;
		if (study_run(&study, &bench.plan, NULL, &why))
			fail_msg("%s", why.text);
		text = observations(&study);
		if (dropped)
			assert_non_null(
			    strstr(text, "warning: before, 8 CPUs: there was no memory to keep 7 of"));
		else
			assert_string_equal(text, "");
		free(text);
		json = json_study(&study, NULL);
		assert_int_equal(json_integer_value(json_object_get(
				     json_array_get(json_object_get(json, "results"), 1), "dropped")),
				 dropped);
		json_decref(json);
		study_free(&study);
	}
	close_bench(&bench);
}

/* The kernel has no variants: the two engines are told apart, and the one beside the other. */
static void sets_engines_beside_each_other(void **state)
{
	struct bench bench;
	struct study studies[2];
	struct engine kernel = fake_engine;
	struct message why = {""};
	char *text = NULL;
	size_t bytes;
	FILE *out;
	json_t *json;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	bench.plan.machine = NULL;
	bench.cases[0].cpus = 1;
	assert_int_equal(study_run(&studies[0], &bench.plan, NULL, &why), 0);
	kernel.name = "other";
	kernel.kernel = true;
	bench.plan.engine = &kernel;
	bench.plan.seed = 1111;
	assert_int_equal(study_run(&studies[1], &bench.plan, NULL, &why), 0);
	out = open_memstream(&text, &bytes);
	report_engines(out, 0, studies, 2);
	fclose(out);
	/* 10 and 101 ns against 10 and 1,112: 111 / 1122, and 181 / 1192. */
	assert_non_null(strstr(text, "to other"));
	assert_non_null(
	    strstr(text, "fake    before             1          9009009      10.1      1.00  no\n"));
	assert_non_null(
	    strstr(text, "other   running kernel     8          6711409      1.00      7.53  yes\n"));
	free(text);
	json = json_engines(studies, 2);
	json_decref(json);
	study_free(&studies[0]);
	study_free(&studies[1]);
	close_bench(&bench);
}

static void tells_which_cpu_failed(void **state)
{
	struct bench bench;
	struct study study;
	struct message why = {""};

	(void)state;
	open_bench(&bench, "placement: fill\n");
	fake.failing_space = 1;
	fake.failing_error = -ENOMEM;
	assert_int_equal(study_run(&study, &bench.plan, NULL, &why), -ENOMEM);
	assert_string_equal(why.text,
			    "e, variant before, 2 CPUs, engine fake, seed 100: CPU 1 failed while making its "
			    "address space: Cannot allocate memory");
	study_free(&study);
	close_bench(&bench);
}

/* Mappings that the operations fill again and again: the CPU unmaps and maps anew. */
static void goes_round_when_a_mapping_is_full(void **state)
{
	struct bench bench;
	struct workload_size size = {.cpus = 2, .published = 10, .measured = 25, .warm_up = 3};
	struct workload_outcome outcome = {0};
	struct message why = {""};

	(void)state;
	open_bench(&bench, "placement: fill\n");
	fake_config =
	    (struct engine_config){.cpus = 2, .exported_bytes = workload_pfn_insert.exported_bytes(&size)};
	assert_int_equal(fake_config.exported_bytes, 2 * 28 * 4096);
	assert_int_equal(workload_pfn_insert.run(&fake_engine, &size, &outcome, &why), 0);
	assert_int_equal(fake.maps, 2);
	assert_int_equal(fake.spaces, 0);
	assert_int_equal(outcome.timing.operations, 50);
	close_bench(&bench);
}

static void writes_the_schema(void **state)
{
	struct bench bench;
	struct study study;
	struct message why = {""};
	json_t *json, *again, *result;
	char *one, *other;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	if (study_run(&study, &bench.plan, NULL, &why))
		fail_msg("%s", why.text);
	json = json_study(&study, bench.published);
	assert_int_equal(json_integer_value(json_object_get(json, "schema")), 1);
	assert_string_equal(json_string_value(json_object_get(json, "experiment")), "e");
	assert_string_equal(json_string_value(json_object_get(json, "engine")), "fake");
	assert_string_equal(json_string_value(json_object_get(json, "machine")), "m");
	assert_int_equal(json_integer_value(json_object_get(json, "seed")), 100);
	assert_int_equal(json_array_size(json_object_get(json, "results")), 2);
	result = json_array_get(json_object_get(json, "results"), 1);
	assert_string_equal(json_string_value(json_object_get(result, "variant")), "before");
	assert_int_equal(json_integer_value(json_object_get(result, "cpus")), 8);
	assert_int_equal(json_integer_value(json_object_get(result, "operations")), 80);
	assert_true(near(json_real_value(json_object_get(result, "ns_per_op")), 181));
	assert_true(near(json_real_value(json_object_get(result, "extrapolated_seconds")), 181e-6));
	assert_int_equal(json_array_size(json_object_get(result, "samples")), 3);
	assert_true(near(json_real_value(json_object_get(result, "transfers_per_op")), 3));
	assert_true(json_is_null(json_object_get(result, "conflicts_per_op")));
	assert_true(json_is_array(json_object_get(result, "locks")));
	assert_true(json_is_array(json_object_get(result, "profile")));
	result = json_array_get(json_object_get(result, "published"), 0);
	assert_string_equal(json_string_value(json_object_get(result, "quantity")), "seconds");
	assert_true(near(json_real_value(json_object_get(result, "value")), 8));
	assert_string_equal(json_string_value(json_object_get(result, "kind")), "predicted");
	assert_true(json_is_null(json_object_get(result, "symbol")));

	/* Byte for byte the same from a second run. */
	one = json_dumps(json, 0);
	study_free(&study);
	assert_int_equal(study_run(&study, &bench.plan, NULL, &why), 0);
	again = json_study(&study, bench.published);
	other = json_dumps(again, 0);
	assert_string_equal(one, other);
	free(one);
	free(other);
	json_decref(json);
	json_decref(again);
	study_free(&study);
	close_bench(&bench);
}

/* The published figures can be anything, and what we get stays. */
static void never_reads_what_was_published(void **state)
{
	struct bench bench;
	struct study study;
	struct message why = {""};
	double before;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	assert_int_equal(study_run(&study, &bench.plan, NULL, &why), 0);
	before = study.rows[1].seconds;
	study_free(&study);
	bench.published->published[1].value = 12345;
	assert_int_equal(study_run(&study, &bench.plan, NULL, &why), 0);
	assert_true(study.rows[1].seconds == before);
	assert_ptr_equal(report_comparable(&study, bench.published), bench.published);
	snprintf(bench.machine->shape.name, sizeof(bench.machine->shape.name), "another");
	assert_null(report_comparable(&study, bench.published));
	study_free(&study);
	close_bench(&bench);
}

static void finds_medians_and_ranges(void **state)
{
	static const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
	double many[1001];
	struct range range = {0};

	(void)state;
	assert_true(statistics_median(odd, 3) == 3);
	assert_true(statistics_median(even, 4) == 2.5);
	assert_true(statistics_median(one, 1) == 7);
	assert_true(odd[0] == 5);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (double)((i * 577) % ARRAY_SIZE(many));
	assert_true(statistics_median(many, ARRAY_SIZE(many)) == 500);
	range_add(&range, -2);
	assert_true(range.low == -2 && range.high == -2);
	range_add(&range, -7);
	range_add(&range, 1);
	assert_true(range.low == -7 && range.high == 1 && range.count == 3);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_FILES(takes_the_median_of_seeds),         WITH_FILES(sets_engines_beside_each_other),
	    WITH_FILES(warns_of_dropped_events),           WITH_FILES(tells_which_cpu_failed),
	    WITH_FILES(goes_round_when_a_mapping_is_full), WITH_FILES(writes_the_schema),
	    WITH_FILES(never_reads_what_was_published),    cmocka_unit_test(finds_medians_and_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
