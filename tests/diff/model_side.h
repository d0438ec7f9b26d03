/* SPDX-License-Identifier: MIT */
/* The side of the differential test that is the naive model. */
#ifndef TESTS_DIFF_MODEL_SIDE_H
#define TESTS_DIFF_MODEL_SIDE_H

#include "tests/diff/operation.h"

struct model_side {
	bool paged_out; /* something may be out */
	struct model_world *world;
	struct model_space *spaces[DIFF_SPACES];
	struct model_object *objects[DIFF_OBJECTS];
};

void model_side_open(struct model_side *side, const struct diff_terms *terms);
void model_side_close(struct model_side *side);
void model_side_run(struct model_side *side, const struct diff_operation *operation,
		    struct diff_result *result, struct diff_look *look);

#endif
