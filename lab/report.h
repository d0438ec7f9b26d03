/* SPDX-License-Identifier: MIT */
/*
 * Studies and predictions as tables for people. `width` is the room in columns, 0 for no bound.
 * `published` may be NULL: it is shown only beside results of the machine that it was measured on.
 */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include <stdio.h>

#include "lab/prediction.h"
#include "lab/published.h"
#include "lab/study.h"

/* One line for each case. */
void report_study(FILE *out, unsigned width, const struct study *study,
		  const struct published_list *published);

/* What was observed in each case: profile, locks, lines and conflicts, as far as the plan asks for them. */
void report_observations(FILE *out, unsigned width, const struct study *study);

/* Published figures beside ours, with their ranges, and how each variant's time grows. */
void report_prediction(FILE *out, unsigned width, const struct prediction *prediction,
		       const struct published_list *published);

/* Where a machine's figures come from: how many are sourced, and which are assumed and fitted. */
void report_machine(FILE *out, unsigned width, const struct machine *machine);

/* Returns `published` if the study ran on the machine that it was measured on, else NULL. */
const struct published_list *report_comparable(const struct study *study,
					       const struct published_list *published);

#endif
