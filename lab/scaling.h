/* SPDX-License-Identifier: MIT */
/*
 * How a variant scales with the number of CPUs: what it does in a second, how far that is from as many times
 * one CPU, where it is greatest, and what is in the way there.
 */
#ifndef LAB_SCALING_H
#define LAB_SCALING_H

#include "lab/study.h"

/* A variant must have been run on so many numbers of CPUs before it has a curve, and before a law is fitted.
 */
#define SCALING_POINTS_MIN     3
#define SCALING_FIT_POINTS_MIN 4
#define SCALING_POINTS_MAX     64

/*
 * Gunther's universal scalability law: N CPUs do lambda N / (1 + sigma (N - 1) + kappa N (N - 1)) a second.
 * sigma is the share of work that is done one after the other, kappa what each CPU costs each other one.
 */
struct scaling_law {
	double lambda, sigma, kappa;
	double peak; /* sqrt((1 - sigma) / kappa) CPUs; 0 where the law has no peak */
};

struct scaling_point {
	unsigned cpus;
	double operations_per_second; /* of all CPUs */
	double efficiency;            /* of each CPU, against one on the fewest CPUs of the curve */
};

struct scaling {
	const char *variant;
	struct scaling_point points[SCALING_POINTS_MAX]; /* by growing CPUs */
	size_t count;
	bool fitted;
	struct scaling_law law;
	double worst_percent; /* how far the law is from the worst point */
	unsigned best_cpus;   /* where the measured throughput is greatest */
	/* On the most CPUs, by name, the line that CPUs waited for most, and the lock; NULL where none was
	 * waited for, or nothing observed it. The study's. */
	const char *line, *lock;
	double line_percent, lock_percent; /* of all CPU time, waiting for it */
};

/* Returns the curves of a study, *count of them; the caller frees the array. Ends the program when memory
 * runs out. */
struct scaling *scaling_find(const struct study *study, size_t *count);

/* Returns whether any variant of a study has a curve. */
bool scaling_has_curve(const struct study *study);

/* Returns what a CPU does in the case of `row`, against one on the fewest CPUs its variant ran on. */
double scaling_efficiency(const struct study *study, const struct study_row *row);

/* Fits the law to `count` points, SCALING_FIT_POINTS_MIN or more, by the least squares of the logarithm of
 * the throughput. Returns 0, or -EDOM when no law is found. */
int scaling_fit_law(const struct scaling_point *points, size_t count, struct scaling_law *law);

/* Returns what the law gives `cpus` CPUs in a second. */
double scaling_law_at(const struct scaling_law *law, double cpus);

#endif
