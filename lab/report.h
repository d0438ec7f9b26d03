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

/* How each variant scales that ran on enough numbers of CPUs (lab/scaling.h): a plot, the law, what limits
 * it. Nothing where none did. */
void report_scaling(FILE *out, unsigned width, const struct study *study);

/* What a plan changes, one line each; nothing when it changes nothing. */
void report_what_if_changes(FILE *out, unsigned width, const struct study_plan *plan);

/* Two studies of the same cases, the second with what its plan changes: what each case gains. */
void report_what_if(FILE *out, unsigned width, const struct study *as_is, const struct study *changed);

/* What was observed in each case: profile, locks, lines and conflicts, as far as the plan asks for them. */
void report_observations(FILE *out, unsigned width, const struct study *study);

/* Published figures beside ours, with their ranges, and how each variant's time grows. */
void report_prediction(FILE *out, unsigned width, const struct prediction *prediction,
		       const struct published_list *published);

/* That part of report_prediction() which sets published profiles beside ours. */
void report_shares(FILE *out, unsigned width, const struct prediction *prediction,
		   const struct published_list *published);

/* That part of it which sets profiles that were published in ticks beside ours. */
void report_ticks(FILE *out, unsigned width, const struct prediction *prediction,
		  const struct published_list *published);

/* That part of it which sets published rates beside ours, and how they compare with each other. */
void report_rates(FILE *out, unsigned width, const struct prediction *prediction,
		  const struct published_list *published);

/* What the rate of the case of number `index` becomes over what is assumed. */
struct range report_rate_range(const struct prediction *prediction, size_t index);

/* What a published share becomes over what is assumed, for the case of number `index`. */
struct range report_share_range(const struct prediction *prediction, size_t index,
				const struct published *figure);

/*
 * Several studies of the same cases, each on another engine that uses real CPUs: how fast each is beside the
 * running kernel, and what they do not have in common.
 */
void report_engines(FILE *out, unsigned width, const struct study *studies, size_t count);

/*
 * What a case is called in a table: its variant. The running kernel is what it is, whatever the variant, so
 * its cases are told apart by what differs between them: "running kernel, layout each".
 */
struct report_label {
	char text[128];
};
struct report_label report_variant(const struct study_plan *plan, const struct study_case *what);

/* "perf_event_open". */
const char *report_counter(enum engine_counter counter);

/* Where a machine's figures come from: how many are sourced, and which are assumed and fitted. */
void report_machine(FILE *out, unsigned width, const struct machine *machine);

/* Returns `published` if the study ran on the machine that it was measured on, else NULL. */
const struct published_list *report_comparable(const struct study *study,
					       const struct published_list *published);

#endif
