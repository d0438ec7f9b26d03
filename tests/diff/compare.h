/* SPDX-License-Identifier: MIT */
/* Runs sequences on the sides, finds the first difference, and the shortest sequence that still shows one. */
#ifndef TESTS_DIFF_COMPARE_H
#define TESTS_DIFF_COMPARE_H

#include "tests/diff/library_side.h"
#include "tests/diff/linux.h"
#include "tests/diff/operation.h"

/* How often an operation came out how. */
struct diff_counts {
	uint64_t total;
	uint64_t outcome[DIFF_KINDS][16]; /* by diff_outcome() */
};
#define DIFF_OUTCOMES 15u
const char *diff_outcome_name(unsigned outcome);

enum diff_side { DIFF_SIDE_MODEL, DIFF_SIDE_LINUX, DIFF_SIDE_LIBRARY, DIFF_SIDES };

struct diff_bench {
	struct diff_terms terms;
	struct linux_side *linux;     /* NULL: this machine cannot */
	struct library_side *library; /* NULL: leave it out */
	/* Of the library: see library_run(). With pressure no MADV_FREE, as nobody knows what it leaves. */
	uint64_t failures, pressure;
	struct diff_counts counts;
};

/*
 * Generates sequence `index` of `seed`, of `operations` operations, and runs it on every side. Returns 0; or
 * 1 for a difference, which it prints with the minimised sequence, with the side that is not as the model in
 * *differs; or a negative errno when the Linux side broke, which it prints, too.
 */
int diff_sequence_run(struct diff_bench *bench, uint64_t seed, unsigned index, unsigned operations,
		      enum diff_side *differs);

#endif
