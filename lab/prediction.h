/* SPDX-License-Identifier: MIT */
/*
 * A prediction: a study on the virtual machine, and for each case the range that its time takes over the
 * ranges of the machine's assumed figures.
 */
#ifndef LAB_PREDICTION_H
#define LAB_PREDICTION_H

#include "lab/published.h"
#include "lab/statistics.h"
#include "lab/study.h"

/* By how much a variant's time grows from its fewest CPUs to its most. */
struct prediction_growth {
	const struct experiment_variant *variant;
	size_t from, to; /* cases */
	double ratio;
	struct range range;
};

struct prediction {
	struct study study;
	struct range *seconds; /* of each case; no numbers were given to it when nothing is assumed */
	struct prediction_growth *growth;
	size_t growth_count;
	size_t points; /* in the assumed ranges that were tried, for each case */
	/* For report_rates.c and report_shares.c, by prediction_at(): of each case at each point,
	 * [swept_points][cases], with time 0 where it is the one in at_file, the case as the machine's file
	 * says, with as few operations. NULL where all were run. */
	struct run_result *swept, *at_file;
	size_t swept_points;
};

/*
 * Runs the plan, and its cases once more at every point of sweep_points(), with fewer operations, and with a
 * profile only where `published` has a share of one. From these sweep_extreme() finds, for each variant's
 * time on its most CPUs and for its growth, the points that should lower and raise it most; the variant is
 * run there too, with each home if that is assumed. Where a point differs from the machine's file only in
 * what a case does not ask for, the case is not run again. The range of a case spans all these and the plan's
 * own result. Returns 0, or a negative errno as run_all() does. prediction_free() frees what it holds, also
 * after an error. The plan's cases must outlive it.
 */
int prediction_run(struct prediction *prediction, const struct study_plan *plan,
		   const struct published_list *published, void (*progress)(size_t done, size_t count),
		   struct message *why);
void prediction_free(struct prediction *prediction);

/* Returns what came out for one case at one of the swept points. */
const struct run_result *prediction_at(const struct prediction *prediction, size_t point, size_t of_case);

#endif
