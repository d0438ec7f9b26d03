/* SPDX-License-Identifier: MIT */
/*
 * Sweeps over assumed figures and the predictions made of them, on an engine whose times are known.
 */
#include "tests/lab/fixture.h"

#include "lab/json.h"
#include "lab/prediction.h"
#include "lab/report.h"
#include "lab/sweep.h"
#include "tests/lab/fake_bench.h"

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

	(void)state;
	open_bench(&bench, "placement: fill\nhome: boot\nhome_assumed: h\n");
	bench.plan.repetitions = 1;
	predict(&prediction, &bench);
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

/* Of the bandwidth nobody asks: where it alone differs, nothing is run, and all is as the file says. */
static void runs_nothing_that_is_known(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct sweep_point *points;
	size_t known = 0;
	long count;

	(void)state;
	open_bench(&bench, "placement: fill\nhome: boot\nhome_assumed: h\n");
	bench.plan.repetitions = 1;
	predict(&prediction, &bench);
	count = sweep_points(bench.machine, false, &points);
	assert_int_equal(prediction.swept_points, count + 8);
	for (size_t i = 0; i < 2 * prediction.swept_points; i++) {
		const struct run_result *at = prediction_at(&prediction, i / 2, i % 2);
		bool is_known = at == &prediction.at_file[i % 2];

		if (i / 2 < (size_t)count)
			assert_int_equal(is_known, points[i / 2].figure == VSMP_CLEAR_CORE);
		if (is_known)
			assert_true(near(at->outcome.timing.cpu_seconds_per_operation,
					 1e-9 * (100 + 10 * bench.cases[i % 2].cpus)));
		known += is_known;
	}
	assert_true(known >= 4);
	free(points);
	prediction_free(&prediction);
	close_bench(&bench);
}

/* Memory lengthens every operation alike, so that more of it means less growth; each corner has too much of
 * one. */
static void finds_the_range_of_growth_beyond_the_corners(void **state)
{
	struct bench bench;
	struct prediction prediction;
	struct figure *memory;

	(void)state;
	open_bench(&bench, "placement: fill\n");
	memory = &bench.machine->figure[VSMP_MEMORY];
	memory->provenance = PROVENANCE_ASSUMED;
	memory->low = 5;
	memory->high = 110;
	bench.plan.repetitions = 1;
	predict(&prediction, &bench);
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

/* Published: the lock has 12.5 % of the time, 125 ticks of 1000. Ours is 10 of 100 parts, 5 of 95 at the best
 * and 40 of 130 at the worst. */
static void predicts_shares_of_a_profile(void **state)
{
	struct bench bench;
	struct prediction prediction;
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
	predict(&prediction, &bench);
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
	predict(&prediction, &bench);
	assert_int_equal(prediction.points, 0);
	assert_int_equal(prediction.seconds[0].count, 0);
	json = json_prediction(&prediction, bench.published);
	assert_true(
	    json_is_null(json_object_get(json_array_get(json_object_get(json, "results"), 0), "range")));
	json_decref(json);
	prediction_free(&prediction);
	close_bench(&bench);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_FILES(sweeps_each_assumed_figure_and_the_corners),
	    WITH_FILES(finds_the_extreme_of_a_quantity),
	    WITH_FILES(predicts_with_a_range),
	    WITH_FILES(runs_nothing_that_is_known),
	    WITH_FILES(finds_the_range_of_growth_beyond_the_corners),
	    WITH_FILES(predicts_shares_of_a_profile),
	    WITH_FILES(has_no_range_where_nothing_is_assumed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
