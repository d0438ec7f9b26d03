/* SPDX-License-Identifier: MIT */
/*
 * What a series of numbers amounts to.
 */
#ifndef LAB_STATISTICS_H
#define LAB_STATISTICS_H

#include <stddef.h>

/* Returns the middle one of `count` (1 or more) samples, the mean of the middle two when there are two. Their
 * order does not matter and stays. */
double statistics_median(const double *samples, size_t count);

/* The smallest interval that holds all it was given. Starts as {0}. */
struct range {
	double low, high;
	size_t count; /* of the numbers it was given */
};

void range_add(struct range *range, double value);

#endif
