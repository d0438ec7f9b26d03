/* SPDX-License-Identifier: MIT */
/*
 * Two series of measured times, and whether they differ: one verdict, by two judges that must agree.
 */
#ifndef LAB_COMPARISON_H
#define LAB_COMPARISON_H

#include <stddef.h>

/* A difference is believed when chance alone would make ranks differ so in less than this share of cases. */
#define COMPARISON_RANK_LEVEL 0.01
/* With fewer numbers on a side not even complete separation is as rare as that. */
#define COMPARISON_SAMPLES_MIN 5

enum verdict { VERDICT_NOISE, VERDICT_FASTER, VERDICT_SLOWER };

struct comparison {
	double median_a, median_b;
	double ratio;     /* median_b / median_a: more than 1 is slower */
	double low, high; /* 95 % bootstrap interval of the ratio */
	double p;         /* of the rank test, two-sided */
	enum verdict verdict;
	/*
	 * The smallest difference, as a factor above 1, that would have been told either way, had these very
	 * series differed by no more than their noise and by it. 0: none, there are too few numbers.
	 */
	double smallest;
};

/*
 * Compares two series of 1 or more times above 0. "faster" and "slower" need both a 95 % interval of the
 * ratio without 1 in it, and a rank test below COMPARISON_RANK_LEVEL. The bootstrap has a seed of its own:
 * the same numbers always give the same result. Ends the program when memory runs out.
 */
void compare_samples(const double *a, size_t a_count, const double *b, size_t b_count,
		     struct comparison *comparison);

/* "faster", "slower", "within noise". */
const char *verdict_name(enum verdict verdict);

#endif
