/* SPDX-License-Identifier: MIT */
/*
 * Studies, sweeps and predictions on an engine whose times are known, and what is reported of them.
 */
#include "tests/lab/fixture.h"

#include <errno.h>
#include <math.h>

#include "lab/json.h"
#include "lab/report.h"
#include "lab/statistics.h"
#include "lab/sweep.h"
#include "tests/lab/fake_engine.h"

/* An experiment and a machine from their files, and a plan for all that was published. */
struct bench {
	struct experiment *experiment;
	struct published_list *published;
	struct machine *machine;
	struct study_case cases[2];
	struct study_plan plan;
};

/* Remote reads are assumed: 10 cycles of 2 GHz, 5 to 40. So is a bandwidth, which the formula does not know.
 */
static void open_bench(struct bench *bench, const char *home)
{
	char *text = fixture_machine();
	struct document *document;
	struct message why = {""};

	memset(&fake, 0, sizeof(fake));
	text = fixture_replace(
	    text, "remote_read_latency: {value: 10, unit: cycles, source: \"s\"}",
	    "remote_read_latency: {value: 10, unit: cycles, assumed: \"a\", low: 5, high: 40}");
	text = fixture_replace(text, "clear_core: {value: 5, unit: GB/s, source: \"s\"}",
			       "clear_core: {value: 5, unit: GB/s, assumed: \"a\", low: 4, high: 8}");
	text = fixture_replace(text, "placement: fill\n", home);
	fixture_write("machines/m.yaml", text);
	free(text);
	text = fixture_experiment();
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (experiment_load(&bench->experiment, "e", &document, &why) ||
	    published_load(&bench->published, document, bench->experiment, &why) ||
	    machine_load(&bench->machine, "m", &why))
		fail_msg("%s", why.text);
	document_close(document);
	for (size_t i = 0; i < 2; i++)
		bench->cases[i] =
		    study_case(bench->experiment, experiment_variant(bench->experiment, "before", NULL),
			       bench->published->published[i].cpus);
	bench->plan = (struct study_plan){.experiment = bench->experiment,
					  .engine = &fake_engine,
					  .machine = bench->machine,
					  .cases = bench->cases,
					  .case_count = 2,
					  .seed = 100,
					  .repetitions = 3,
					  .operations = 10};
}

static void close_bench(struct bench *bench)
{
	experiment_free(bench->experiment);
	published_free(bench->published);
	machine_free(bench->machine);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

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

/* The point at which `figure` alone is moved, to `value`. */
static const struct machine_point *moved(const struct sweep_point *points, long count, unsigned figure,
					 double value)
{
	for (long i = 0; i < count; i++)
		if (points[i].figure == figure && points[i].at.value[figure] == value)
			return &points[i].at;
	fail_msg("no point has %s at %g", machine_figure_name(figure), value);
	return NULL;
}

/* Point number `index` of those that are not of one figure. */
static const struct machine_point *other(const struct sweep_point *points, long count, unsigned index)
{
	for (long i = 0; i < count; i++)
		if (points[i].figure == MACHINE_FIGURES && !index--)
			return &points[i].at;
	fail_msg("too few points");
	return NULL;
}

static void expect_point(const struct machine_point *point, double latency, double bandwidth,
			 enum machine_home home)
{
	assert_true(point->value[VSMP_REMOTE_READ_LATENCY] == latency);
	assert_true(point->value[VSMP_CLEAR_CORE] == bandwidth);
	assert_true(point->value[VSMP_HIT] == 10);
	assert_int_equal(point->home, home);
}

static void sweeps_each_assumed_figure_and_the_corners(void **state)
{
	struct bench bench;
	struct sweep_point *points;
	long count;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	count = sweep_points(bench.machine, false, &points);
	assert_int_equal(count, 6);
	expect_point(moved(points, count, VSMP_REMOTE_READ_LATENCY, 5), 5, 5, MACHINE_HOME_BOOT);
	expect_point(moved(points, count, VSMP_REMOTE_READ_LATENCY, 40), 40, 5, MACHINE_HOME_BOOT);
	expect_point(moved(points, count, VSMP_CLEAR_CORE, 4), 10, 4, MACHINE_HOME_BOOT);
	expect_point(moved(points, count, VSMP_CLEAR_CORE, 8), 10, 8, MACHINE_HOME_BOOT);
	/* A longer latency and a smaller bandwidth take longer. */
	expect_point(other(points, count, 0), 40, 4, MACHINE_HOME_BOOT);
	expect_point(other(points, count, 1), 5, 8, MACHINE_HOME_BOOT);
	free(points);
	close_bench(&bench);

	open_bench(&bench, "placement: fill\nhome: idle\nhome_assumed: h\n");
	count = sweep_points(bench.machine, false, &points);
	assert_int_equal(count, 9);
	expect_point(other(points, count, 0), 40, 4, MACHINE_HOME_IDLE);
	expect_point(other(points, count, 2), 10, 5, MACHINE_HOME_BOOT);
	expect_point(other(points, count, 3), 40, 4, MACHINE_HOME_BOOT);
	expect_point(other(points, count, 4), 5, 8, MACHINE_HOME_BOOT);
	free(points);
	close_bench(&bench);
}

static void finds_the_extreme_of_a_quantity(void **state)
{
	struct bench bench;
	struct sweep_point *points;
	struct machine_point extreme;
	double quantity[9];
	long count;

	(void)state;
	open_bench(&bench, "placement: fill\nhome: idle\nhome_assumed: h\n");
	count = sweep_points(bench.machine, false, &points);
	/* The latency lowers it, the bandwidth raises it: neither corner has both. */
	for (long i = 0; i < count; i++)
		quantity[i] =
		    points[i].at.value[VSMP_CLEAR_CORE] - points[i].at.value[VSMP_REMOTE_READ_LATENCY];
	sweep_extreme(bench.machine, points, (size_t)count, quantity, -5, true, &extreme);
	expect_point(&extreme, 5, 8, MACHINE_HOME_IDLE);
	sweep_extreme(bench.machine, points, (size_t)count, quantity, -5, false, &extreme);
	expect_point(&extreme, 40, 4, MACHINE_HOME_IDLE);
	for (long i = 0; i < count; i++)
		quantity[i] = points[i].at.value[VSMP_CLEAR_CORE];
	sweep_extreme(bench.machine, points, (size_t)count, quantity, 5, true, &extreme);
	expect_point(&extreme, 10, 8, MACHINE_HOME_IDLE);
	free(points);
	/* An end that is the value itself was not run: the quantity at the file's figures stands for it. */
	bench.machine->figure[VSMP_CLEAR_CORE].low = 5;
	count = sweep_points(bench.machine, false, &points);
	assert_int_equal(count, 8);
	for (long i = 0; i < count; i++)
		quantity[i] = points[i].at.value[VSMP_CLEAR_CORE];
	sweep_extreme(bench.machine, points, (size_t)count, quantity, 5, false, &extreme);
	expect_point(&extreme, 10, 5, MACHINE_HOME_IDLE);
	sweep_extreme(bench.machine, points, (size_t)count, quantity, 5, true, &extreme);
	expect_point(&extreme, 10, 8, MACHINE_HOME_IDLE);
	free(points);
	close_bench(&bench);
}

static void predicts_with_a_range(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct message why = {""};

	(void)state;
	open_bench(&bench, "placement: fill\nhome: boot\nhome_assumed: h\n");
	bench.plan.repetitions = 1;
	if (prediction_run(&prediction, &bench.plan, bench.published, NULL, &why))
		fail_msg("%s", why.text);
	/* The nine of the sweep; then time and growth, lowered and raised, at either home. */
	assert_int_equal(prediction.points, 17);
	/* 1,000 operations of 10 x CPUs + 100 ns; the best at 5, the worst at 40 and, with a socket idle, its
	 * penalty. Eight CPUs leave no socket idle. */
	assert_true(near(prediction.study.rows[0].seconds, 120e-6));
	assert_true(near(prediction.seconds[0].low, 110e-6));
	assert_true(near(prediction.seconds[0].high, 1180e-6));
	assert_true(near(prediction.study.rows[1].seconds, 180e-6));
	assert_true(near(prediction.seconds[1].low, 140e-6));
	assert_true(near(prediction.seconds[1].high, 420e-6));
	assert_int_equal(prediction.growth_count, 1);
	assert_int_equal(prediction.growth[0].from, 0);
	assert_int_equal(prediction.growth[0].to, 1);
	assert_true(near(prediction.growth[0].ratio, 180.0 / 120));
	/* At each point by itself: 420/180 is the greatest, 140/1110 (an idle home for two CPUs only) the
	 * least. */
	assert_true(near(prediction.growth[0].range.high, 420.0 / 180));
	assert_true(near(prediction.growth[0].range.low, 140.0 / 1110));
	prediction_free(&prediction);
	close_bench(&bench);
}

/* Memory lengthens every operation alike, so that more of it means less growth; each corner has too much of
 * one. */
static void finds_the_range_of_growth_beyond_the_corners(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct message why = {""};
	struct figure *memory;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	memory = &bench.machine->figure[VSMP_MEMORY];
	memory->provenance = PROVENANCE_ASSUMED;
	memory->low = 5;
	memory->high = 110;
	bench.plan.repetitions = 1;
	if (prediction_run(&prediction, &bench.plan, bench.published, NULL, &why))
		fail_msg("%s", why.text);
	assert_int_equal(prediction.points, 12);
	/* Latency 5 and memory 5; latency 40 and memory 110. */
	assert_true(near(prediction.seconds[1].low, 135e-6));
	assert_true(near(prediction.seconds[1].high, 520e-6));
	/* Latency 5 and memory 110; latency 40 and memory 5. */
	assert_true(near(prediction.growth[0].range.low, 240.0 / 210));
	assert_true(near(prediction.growth[0].range.high, 415.0 / 175));
	prediction_free(&prediction);
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

/* Published: the lock has 12.5 % of the time, 125 ticks of 1000. Ours is 10 of 100 parts, 5 of 95 at the best
 * and 40 of 130 at the worst. */
static void predicts_shares_of_a_profile(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct message why = {""};
	struct published *figure;
	char *functions[] = {(char *)"spin_lock", (char *)"fault"};
	char *text = NULL;
	size_t bytes;
	FILE *out;
	json_t *json, *share;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	bench.plan.profile = true;
	figure = &bench.published->published[1];
	figure->quantity = PUBLISHED_PROFILE_SHARE;
	figure->value = 12.5;
	figure->ticks = 125;
	figure->symbol = strdup("_raw_spin_lock");
	figure->ours = functions;
	figure->ours_count = 2;
	if (prediction_run(&prediction, &bench.plan, bench.published, NULL, &why))
		fail_msg("%s", why.text);
	json = json_prediction(&prediction, bench.published);
	share = json_array_get(
	    json_object_get(json_array_get(json_object_get(json, "results"), 1), "published"), 0);
	assert_string_equal(json_string_value(json_object_get(share, "quantity")), "profile share");
	assert_string_equal(json_string_value(json_object_get(share, "symbol")), "_raw_spin_lock");
	assert_true(json_is_null(json_object_get(share, "caller")));
	assert_true(near(json_real_value(json_object_get(share, "ours")), 10));
	assert_int_equal(json_integer_value(json_object_get(share, "ticks")), 125);
	assert_true(near(json_real_value(json_object_get(share, "our_ticks")), 100));
	share = json_object_get(share, "range");
	assert_true(near(json_real_value(json_object_get(share, "low")), 500.0 / 95));
	assert_true(near(json_real_value(json_object_get(share, "high")), 4000.0 / 130));
	json_decref(json);

	out = open_memstream(&text, &bytes);
	report_prediction(out, 0, &prediction, bench.published);
	fclose(out);
	assert_non_null(
	    strstr(text, "before      8  _raw_spin_lock                                 12.50     10.00   "
			 "         -2.50  predicted               5.26 to 30.77"));
	assert_non_null(strstr(text, "fitted"));
	free(text);
	figure->ours = NULL;
	figure->ours_count = 0;
	prediction_free(&prediction);
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

static void has_no_range_where_nothing_is_assumed(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct message why = {""};
	char *text = fixture_machine();
	json_t *json;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	machine_free(bench.machine);
	fixture_write("machines/m.yaml", text);
	free(text);
	assert_int_equal(machine_load(&bench.machine, "m", &why), 0);
	bench.plan.machine = bench.machine;
	if (prediction_run(&prediction, &bench.plan, bench.published, NULL, &why))
		fail_msg("%s", why.text);
	assert_int_equal(prediction.points, 0);
	assert_int_equal(prediction.seconds[0].count, 0);
	json = json_prediction(&prediction, bench.published);
	assert_true(
	    json_is_null(json_object_get(json_array_get(json_object_get(json, "results"), 0), "range")));
	json_decref(json);
	prediction_free(&prediction);
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
	    WITH_FILES(takes_the_median_of_seeds),
	    WITH_FILES(sweeps_each_assumed_figure_and_the_corners),
	    WITH_FILES(finds_the_extreme_of_a_quantity),
	    WITH_FILES(predicts_shares_of_a_profile),
	    WITH_FILES(sets_engines_beside_each_other),
	    WITH_FILES(predicts_with_a_range),
	    WITH_FILES(finds_the_range_of_growth_beyond_the_corners),
	    WITH_FILES(warns_of_dropped_events),
	    WITH_FILES(has_no_range_where_nothing_is_assumed),
	    WITH_FILES(tells_which_cpu_failed),
	    WITH_FILES(goes_round_when_a_mapping_is_full),
	    WITH_FILES(writes_the_schema),
	    WITH_FILES(never_reads_what_was_published),
	    cmocka_unit_test(finds_medians_and_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
