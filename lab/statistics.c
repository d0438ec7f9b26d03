/* SPDX-License-Identifier: MIT */
#include "lab/statistics.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

double statistics_median(const double *samples, size_t count)
{
	double few[64];
	double *sorted = count <= sizeof(few) / sizeof(few[0]) ? few : malloc(count * sizeof(*sorted));
	double median;

	if (!sorted)
		abort();
	memcpy(sorted, samples, count * sizeof(*sorted));
	gsl_sort(sorted, 1, count);
	median = gsl_stats_median_from_sorted_data(sorted, 1, count);
	if (sorted != few)
		free(sorted);
	return median;
}

void range_add(struct range *range, double value)
{
	if (!range->count || value < range->low)
		range->low = value;
	if (!range->count || value > range->high)
		range->high = value;
	range->count++;
}
