/* SPDX-License-Identifier: MIT */
/*
 * What `reproduce` shows of an experiment beside its published figures: the cases under `shown` in its file,
 * with what they measured, how they scale, the lines that its CPUs met at, and the verdicts that were
 * published.
 */
#ifndef LAB_SHOWN_H
#define LAB_SHOWN_H

#include <jansson.h>
#include <stdio.h>

#include "lab/published.h"
#include "lab/study.h"

struct shown {
	struct study_case *cases;
	struct study_plan plan; /* of one run of each */
	struct study study;
	/* Those of which there are verdicts, as often as the file says. */
	struct study_case *judged_cases;
	struct study_plan judged_plan;
	struct study judged;
};

/*
 * Plans the cases of an experiment after `plan`, whose machine and seed they have. `published` may be NULL.
 * Returns 0; -EINVAL for more CPUs than the machine has, or -ENOMEM, with a message. No cases where the file
 * has none.
 */
int shown_plan(struct shown *shown, const struct study_plan *plan, const struct published_list *published,
	       struct message *why);

/* Runs them. Returns as study_run(). */
int shown_run(struct shown *shown, void (*progress)(size_t done, size_t count), struct message *why);
void shown_free(struct shown *shown);

/* Prints what came out, `width` as in lab/report.h; nothing without cases. `published` may be NULL. */
void shown_print(FILE *out, unsigned width, const struct shown *shown,
		 const struct published_list *published);

/* [{"variant", "against", "cpus", "published", "source", "ratio", "low", "high", "p", "ours"}]. */
json_t *shown_verdicts_json(const struct shown *shown, const struct published_list *published);

#endif
