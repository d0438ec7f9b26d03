/* SPDX-License-Identifier: MIT */
/*
 * Curves: the law is found again where the points obey one, and the plot shows each point where it belongs.
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

#include "lab/plot.h"
#include "lab/scaling.h"

#define POINTS 9u

static void obey(const struct scaling_law *law, struct scaling_point *points)
{
	for (unsigned i = 0; i < POINTS; i++)
		points[i] = (struct scaling_point){1u << i, scaling_law_at(law, 1u << i), 0};
}

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b) + 1e-9;
}

static void finds_the_law_again(void **state)
{
	static const struct scaling_law laws[] = {
	    {1e6, 0.05, 1e-4, 0}, {4e5, 0, 0.02, 0}, {123, 0.9, 1e-6, 0}, {1e8, 0.3, 0, 0}, {5e4, 0, 0, 0},
	};
	struct scaling_point points[POINTS];

	(void)state;
	for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++) {
		struct scaling_law law;

		obey(&laws[i], points);
		assert_int_equal(scaling_fit_law(points, POINTS, &law), 0);
		if (!near(law.lambda, laws[i].lambda, 1e-3) || !near(law.sigma, laws[i].sigma, 1e-2) ||
		    !near(law.kappa, laws[i].kappa, 1e-2))
			fail_msg("law %zu: lambda %g, sigma %g, kappa %g", i, law.lambda, law.sigma,
				 law.kappa);
		if (laws[i].kappa > 0)
			assert_true(near(law.peak, sqrt((1 - laws[i].sigma) / laws[i].kappa), 1e-2));
		else
			assert_true(law.peak == 0 || law.peak > 1e4);
	}
}

static void fits_what_obeys_no_law(void **state)
{
	struct scaling_point points[POINTS];
	struct scaling_law law;

	(void)state;
	for (unsigned i = 0; i < POINTS; i++)
		points[i] = (struct scaling_point){1u << i, i % 2 ? 10 : 1e5, 0};
	assert_int_equal(scaling_fit_law(points, POINTS, &law), 0);
	assert_true(isfinite(law.lambda) && isfinite(law.sigma) && isfinite(law.kappa));
}

/* Draws into lines. */
static char *drawn(unsigned width, const struct plot_curve *curves, size_t count)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	plot_print(out, width, "y", curves, count);
	fclose(out);
	return text;
}

static void plots_within_the_width(void **state)
{
	const double x[] = {1, 4, 16, 64}, up[] = {10, 40, 160, 640}, down[] = {10, 9, 5, 1};
	const struct plot_curve curves[] = {{"up", x, up, 4}, {"down", x, down, 4}};

	(void)state;
	for (unsigned width = 30; width <= 90; width += 15) {
		char *text = drawn(width, curves, 2), *line = strtok(text, "\n");
		unsigned as = 0, bs = 0;

		for (; line; line = strtok(NULL, "\n")) {
			char *bar = strchr(line, '|');

			assert_true(strlen(line) <= width);
			for (char *at = bar; at && *at; at++) {
				as += *at == 'A';
				bs += *at == 'B';
			}
		}
		/* Both begin at one point, which the first has. */
		assert_int_equal(as, 4);
		assert_int_equal(bs, 3);
		free(text);
	}
}

static void plots_the_greatest_on_top(void **state)
{
	const double x[] = {1, 2, 4}, y[] = {1000, 100, 10};
	const struct plot_curve curve = {"c", x, y, 3};
	char *text = drawn(80, &curve, 1);

	(void)state;
	/* Top left and bottom right corner. */
	assert_non_null(strstr(text, "1e+03|A"));
	assert_non_null(strstr(text, "A\n         +----"));
	free(text);
}

static void plots_one_point(void **state)
{
	const double x[] = {8}, y[] = {100};
	const struct plot_curve curve = {"c", x, y, 1};
	char *text = drawn(80, &curve, 1);

	(void)state;
	assert_non_null(strstr(text, "|A"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_the_law_again),    cmocka_unit_test(fits_what_obeys_no_law),
	    cmocka_unit_test(plots_within_the_width), cmocka_unit_test(plots_the_greatest_on_top),
	    cmocka_unit_test(plots_one_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
