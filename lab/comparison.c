/* SPDX-License-Identifier: MIT */
#include "lab/comparison.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"
#include "lab/rank_test.h"
#include "lab/statistics.h"

#define RESAMPLES      4000
#define BOOTSTRAP_SEED 20041
#define FACTOR_MAX     1024.0
#define BISECTIONS     40

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
	    [VERDICT_NOISE] = "within noise", [VERDICT_FASTER] = "faster", [VERDICT_SLOWER] = "slower"};

	return names[verdict];
}

/* The median of as many numbers as there are, drawn from them with replacement. */
static double resampled_median(const double *samples, size_t count, double *room, struct random *random)
{
	for (size_t i = 0; i < count; i++)
		room[i] = samples[random_below(random, count)];
	return statistics_median(room, count);
}

static void bootstrap(const double *a, size_t a_count, const double *b, size_t b_count,
		      struct comparison *comparison)
{
	size_t most = a_count > b_count ? a_count : b_count;
	double *ratios = calloc(RESAMPLES, sizeof(*ratios)), *room = calloc(most, sizeof(*room));
	struct random random;

	if (!ratios || !room)
		abort();
	random_seed(&random, BOOTSTRAP_SEED);
	for (size_t i = 0; i < RESAMPLES; i++) {
		double one = resampled_median(a, a_count, room, &random);

		ratios[i] = resampled_median(b, b_count, room, &random) / one;
	}
	gsl_sort(ratios, 1, RESAMPLES);
	comparison->low = gsl_stats_quantile_from_sorted_data(ratios, 1, RESAMPLES, 0.025);
	comparison->high = gsl_stats_quantile_from_sorted_data(ratios, 1, RESAMPLES, 0.975);
	free(ratios);
	free(room);
}

static void scale(const double *from, size_t count, double factor, double *to)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] * factor;
}

/* Two series around one and the same middle. */
struct centred {
	double *a, *b;
	size_t a_count, b_count;
	double low, high; /* of the bootstrap: scaling b scales each of its ratios, so it is done once */
};

/* Whether b would be told to be slower, or faster, if it took `factor` times as long. */
static bool is_told(const struct centred *centred, double factor)
{
	double *moved = calloc(centred->b_count, sizeof(*moved));
	bool told = factor > 1 ? factor * centred->low > 1 : factor * centred->high < 1;

	if (!moved)
		abort();
	scale(centred->b, centred->b_count, factor, moved);
	told =
	    told && rank_test(centred->a, centred->a_count, moved, centred->b_count) < COMPARISON_RANK_LEVEL;
	free(moved);
	return told;
}

/* The factor from which on a slowdown, or the speedup by as much, is told; 0: none is. */
static double threshold(const struct centred *centred, bool slower)
{
	double low = 1, high = FACTOR_MAX;

	if (!is_told(centred, slower ? high : 1 / high))
		return 0;
	for (unsigned i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (is_told(centred, slower ? middle : 1 / middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static double smallest_effect(const double *a, size_t a_count, const double *b, size_t b_count,
			      const struct comparison *comparison)
{
	struct centred centred = {.a = calloc(a_count, sizeof(double)),
				  .b = calloc(b_count, sizeof(double)),
				  .a_count = a_count,
				  .b_count = b_count,
				  .low = comparison->low / comparison->ratio,
				  .high = comparison->high / comparison->ratio};
	double up, down;

	if (!centred.a || !centred.b)
		abort();
	scale(a, a_count, 1 / comparison->median_a, centred.a);
	scale(b, b_count, 1 / comparison->median_b, centred.b);
	up = threshold(&centred, true);
	down = threshold(&centred, false);
	free(centred.a);
	free(centred.b);
	if (up == 0 || down == 0)
		return 0;
	return up > down ? up : down;
}

void compare_samples(const double *a, size_t a_count, const double *b, size_t b_count,
		     struct comparison *comparison)
{
	comparison->median_a = statistics_median(a, a_count);
	comparison->median_b = statistics_median(b, b_count);
	comparison->ratio = comparison->median_b / comparison->median_a;
	comparison->p = rank_test(a, a_count, b, b_count);
	bootstrap(a, a_count, b, b_count, comparison);
	comparison->smallest = smallest_effect(a, a_count, b, b_count, comparison);
	comparison->verdict = VERDICT_NOISE;
	if (comparison->p >= COMPARISON_RANK_LEVEL)
		return;
	if (comparison->low > 1)
		comparison->verdict = VERDICT_SLOWER;
	else if (comparison->high < 1)
		comparison->verdict = VERDICT_FASTER;
}
