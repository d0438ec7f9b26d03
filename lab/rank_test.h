/* SPDX-License-Identifier: MIT */
/*
 * The rank test of Mann and Whitney (and Wilcoxon): how probable it is that two samples of one and the same
 * distribution differ in rank as much as these do. It asks nothing of the distribution's shape.
 */
#ifndef LAB_RANK_TEST_H
#define LAB_RANK_TEST_H

#include <stddef.h>

/*
 * Returns the two-sided probability, 0 to 1, for `a` and `b` of 1 or more numbers each. Exact, ties included,
 * up to RANK_TEST_EXACT_MAX numbers of both together; beyond by the normal approximation with its correction
 * for ties and for continuity. Ends the program when memory runs out.
 */
double rank_test(const double *a, size_t a_count, const double *b, size_t b_count);

#define RANK_TEST_EXACT_MAX 60u

#endif
