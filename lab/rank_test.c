/* SPDX-License-Identifier: MIT */
#include "lab/rank_test.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Doubled ranks of all numbers, a's first; equal numbers share the mean of their ranks, and doubled it is
 * whole. */
static void rank(const double *numbers, size_t count, unsigned *doubled, double *ties)
{
	size_t *order = calloc(count, sizeof(*order));

	if (!order)
		abort();
	gsl_sort_index(order, numbers, 1, count);
	*ties = 0;
	for (size_t first = 0, last; first < count; first = last) {
		last = first;
		while (last < count && numbers[order[last]] == numbers[order[first]])
			last++;
		for (size_t i = first; i < last; i++)
			doubled[order[i]] = (unsigned)(first + last + 1);
		*ties += pow((double)(last - first), 3) - (double)(last - first);
	}
	free(order);
}

/*
 * Of all ways to choose a_count of the ranks, the share whose sum is at least as far from the mean as `sum`
 * is. ways[n][s] is the number of ways to choose n of the ranks looked at so far with sum s.
 */
static double exact(const unsigned *doubled, size_t count, size_t a_count, unsigned sum)
{
	size_t sums = 1;
	double **ways = calloc(a_count + 1, sizeof(double *));
	double mean = (double)a_count * (double)(count + 1), extreme = 0, all = 0;

	for (size_t i = 0; i < count; i++)
		sums += doubled[i];
	if (!ways)
		abort();
	for (size_t n = 0; n <= a_count; n++) {
		ways[n] = calloc(sums, sizeof(double));
		if (!ways[n])
			abort();
	}
	ways[0][0] = 1;
	for (size_t i = 0; i < count; i++)
		for (size_t n = i < a_count ? i + 1 : a_count; n > 0; n--)
			for (size_t s = sums; s-- > doubled[i];)
				ways[n][s] += ways[n - 1][s - doubled[i]];
	for (size_t s = 0; s < sums; s++) {
		all += ways[a_count][s];
		if (fabs((double)s - mean) >= fabs((double)sum - mean))
			extreme += ways[a_count][s];
	}
	for (size_t n = 0; n <= a_count; n++)
		free(ways[n]);
	free(ways);
	return extreme / all;
}

static double approximate(size_t a_count, size_t b_count, double u, double ties)
{
	double a = (double)a_count, b = (double)b_count, all = a + b;
	double variance = a * b / 12 * (all + 1 - ties / (all * (all - 1)));
	double distance = fabs(u - a * b / 2) - 0.5;

	if (variance <= 0 || distance <= 0)
		return 1;
	return 2 * gsl_cdf_ugaussian_Q(distance / sqrt(variance));
}

double rank_test(const double *a, size_t a_count, const double *b, size_t b_count)
{
	size_t count = a_count + b_count;
	double *numbers = calloc(count, sizeof(*numbers));
	unsigned *doubled = calloc(count, sizeof(*doubled));
	unsigned sum = 0;
	double ties, p;

	if (!numbers || !doubled)
		abort();
	memcpy(numbers, a, a_count * sizeof(*a));
	memcpy(numbers + a_count, b, b_count * sizeof(*b));
	rank(numbers, count, doubled, &ties);
	for (size_t i = 0; i < a_count; i++)
		sum += doubled[i];
	if (count <= RANK_TEST_EXACT_MAX)
		p = exact(doubled, count, a_count, sum);
	else
		p = approximate(a_count, b_count, sum / 2.0 - (double)a_count * (double)(a_count + 1) / 2,
				ties);
	free(numbers);
	free(doubled);
	return p < 1 ? p : 1;
}
