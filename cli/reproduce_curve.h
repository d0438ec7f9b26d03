/* SPDX-License-Identifier: MIT */
/*
 * What the report of `reproduce` shows besides the published cases: how their variants scale, and what there
 * is to see inside.
 */
#ifndef CLI_REPRODUCE_CURVE_H
#define CLI_REPRODUCE_CURVE_H

#include "lab/study.h"

struct reproduce_curve {
	struct study_case *cases;
	struct study_plan plan;
	struct study study;
};

/*
 * Plans each variant of `plan`, the way it is run there, on 1, 2, 4, ... CPUs up to the most there, or on 1,
 * 4, 16, ... where runs are so long that a sweep goes to corners only, with the experiment's few operations
 * of a sweep, and all observed. Returns 0, or -ENOMEM with a message.
 */
int reproduce_curve_plan(struct reproduce_curve *curve, const struct study_plan *plan, struct message *why);
void reproduce_curve_free(struct reproduce_curve *curve);

#endif
