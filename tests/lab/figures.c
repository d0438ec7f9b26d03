/* SPDX-License-Identifier: MIT */
/*
 * Every published figure beside ours, and the line that sums up: by hand, from two cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* Two cases of one variant: 2 CPUs take 30 s, 8 take 40; one stack in four is in f. */
struct bench {
	struct experiment experiment;
	struct experiment_variant variant;
	struct study_case cases[2];
	struct study_row rows[2];
	struct run_result observed;
	struct vsmp_stack_row stacks[2];
	struct prediction prediction;
};

static void set_up(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	bench->experiment.name = (char *)"e";
	bench->variant.name = (char *)"v";
	bench->stacks[0] = (struct vsmp_stack_row){(char *)"g;f", 25};
	bench->stacks[1] = (struct vsmp_stack_row){(char *)"g", 75};
	bench->observed.report.stacks = bench->stacks;
	for (unsigned i = 0; i < 2; i++) {
		bench->cases[i] = (struct study_case){.variant = &bench->variant, .cpus = i ? 8 : 2};
		bench->rows[i] = (struct study_row){
		    .what = bench->cases[i], .seconds = i ? 40 : 30, .observed = &bench->observed};
	}
	bench->prediction.study =
	    (struct study){.plan = {.experiment = &bench->experiment, .cases = bench->cases, .case_count = 2},
			   .rows = bench->rows};
}

static char *const f[] = {(char *)"f"};

static struct published seconds(unsigned cpus, double value, enum published_kind kind)
{
	return (struct published){.variant = (char *)"v",
				  .cpus = cpus,
				  .quantity = PUBLISHED_SECONDS,
				  .value = value,
				  .unit = (char *)"s",
				  .kind = kind};
}

static struct published share(unsigned cpus, double value)
{
	return (struct published){.variant = (char *)"v",
				  .cpus = cpus,
				  .quantity = PUBLISHED_PROFILE_SHARE,
				  .value = value,
				  .unit = (char *)"%",
				  .symbol = (char *)"their_f",
				  .ours = (char **)f,
				  .ours_count = 1};
}

static char *printed(const struct figures *figures)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	figures_print(out, 1000, figures);
	fclose(out);
	return text;
}

static void sums_up_predictions_only(void **state)
{
	struct published figures_published[] = {seconds(2, 30, PUBLISHED_FITTED),
						seconds(8, 80, PUBLISHED_PREDICTED), share(2, 20),
						share(8, 28)};
	struct published_list list = {.published = figures_published, .published_count = 4};
	struct figures figures = {0};
	struct figures_summary summary;
	struct bench bench;
	char *text;

	(void)state;
	set_up(&bench);
	bench.observed.report.stack_count = 2;
	figures_add(&figures, &bench.prediction, &list);
	assert_int_equal(figures.count, 4);
	assert_true(near(figures.rows[1].ratio, 0.5));
	assert_true(near(figures.rows[2].ours, 25) && near(figures.rows[2].points, 5));
	figures_sum_up(&figures, &summary);
	/* Half the time is off by a factor of 2; the fitted one does not count. */
	assert_int_equal(summary.factors, 1);
	assert_true(near(summary.median_factor, 2) && near(summary.worst_factor, 2));
	assert_int_equal(summary.shares, 2);
	assert_true(near(summary.median_points, 4) && near(summary.worst_points, 5));
	text = printed(&figures);
	assert_non_null(
	    strstr(text, "Predictions: 1 times and rates are off by a factor of 2.00 in the median"));
	assert_non_null(strstr(text, "2 shares of time by 4.00 points in the median, 5.00 at worst."));
	assert_non_null(strstr(text, "their_f"));
	assert_non_null(strstr(text, "-50.0 %"));
	assert_non_null(strstr(text, "fitted"));
	free(text);
	figures_free(&figures);
}

static void says_where_a_run_cannot_tell(void **state)
{
	struct published figures_published[] = {share(2, 20)};
	struct published_list list = {.published = figures_published, .published_count = 1};
	struct figures figures = {0};
	struct figures_summary summary;
	struct bench bench;
	char *text;

	(void)state;
	set_up(&bench);
	figures_add(&figures, &bench.prediction, &list);
	figures_sum_up(&figures, &summary);
	assert_true(isnan(figures.rows[0].ours));
	assert_int_equal(summary.shares, 0);
	text = printed(&figures);
	assert_null(strstr(text, "Predictions"));
	assert_null(strstr(text, "nan"));
	free(text);
	figures_free(&figures);
}

static void sums_up_nothing(void **state)
{
	struct figures figures = {0};
	json_t *json;

	(void)state;
	json = figures_json(&figures);
	assert_int_equal(json_integer_value(json_object_get(json, "predictions")), 0);
	assert_true(json_is_null(json_object_get(json, "factors")));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_up_predictions_only),
	    cmocka_unit_test(says_where_a_run_cannot_tell),
	    cmocka_unit_test(sums_up_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
