/* SPDX-License-Identifier: MIT */
/*
 * The part of `run` that answers "what if": the same cases once more, as they are.
 */
#ifndef CLI_RUN_WHAT_IF_H
#define CLI_RUN_WHAT_IF_H

#include "lab/study.h"
#include "lab/what_if.h"

struct run_as_is {
	struct machine *machine; /* as its file says */
	struct study_plan plan;
	struct study study;
};

/*
 * Changes `machine`, which the plan uses, and notes the change in the plan; `as_is` gets a plan of its own
 * with the machine as it was. Returns 0, or a negative errno with a message: -EINVAL for what cannot be
 * changed, on an engine that does not simulate nothing can.
 */
int run_what_if_prepare(struct run_as_is *as_is, struct what_if *what_if, struct machine *machine,
			struct study_plan *plan, struct message *why);
void run_what_if_free(struct run_as_is *as_is);

#endif
