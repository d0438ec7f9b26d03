/* SPDX-License-Identifier: MIT */
/*
 * What the report of `reproduce` shows besides the published cases: how their variants scale, and what there
 * is to see inside.
 */
#ifndef CLI_REPRODUCE_CURVE_H
#define CLI_REPRODUCE_CURVE_H

#include <jansson.h>

#include "lab/study.h"

struct reproduce_curve {
	struct study_case *cases; /* those of no published figure */
	struct study_plan plan;
	struct study study; /* of these cases */
	struct study whole; /* with the published ones; the rows are the other two studies' */
};

/*
 * Plans each variant of `plan`, the way it is run there, on 1, 2, 4, ... CPUs up to the most there, or on 1,
 * 4, 16, ... where runs are so long that a sweep goes to corners only, with the experiment's few operations
 * of a sweep. What `plan` itself runs is not run again. Returns 0, or -ENOMEM with a message.
 */
int reproduce_curve_plan(struct reproduce_curve *curve, const struct study_plan *plan, struct message *why);

/* Runs what is planned. `published`, the study of the plan's cases, must outlive the curve. Returns as
 * study_run() does. */
int reproduce_curve_run(struct reproduce_curve *curve, const struct study *published,
			void (*progress)(size_t done, size_t count), struct message *why);

/* Returns the cases of no published figure and how the variants scale with the others too, or null where
 * there are none. */
json_t *reproduce_curve_json(const struct reproduce_curve *curve);
void reproduce_curve_free(struct reproduce_curve *curve);

#endif
