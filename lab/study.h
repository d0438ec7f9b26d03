/* SPDX-License-Identifier: MIT */
/*
 * A study: some variants of one experiment on some numbers of CPUs, each repeated with different seeds.
 */
#ifndef LAB_STUDY_H
#define LAB_STUDY_H

#include "lab/run.h"

struct study_case {
	const struct experiment_variant *variant;
	unsigned cpus;
	struct workload_settings settings;
};

/* A case of `variant` as the experiment's file has it. */
struct study_case study_case(const struct experiment *experiment, const struct experiment_variant *variant,
			     unsigned cpus);

struct study_plan {
	const struct experiment *experiment;
	const struct engine *engine;
	const struct machine *machine; /* NULL where the engine needs none */
	struct vsmp_placement placement;
	const struct study_case *cases;
	size_t case_count;
	uint64_t seed;        /* of the first repetition; the next has the next number */
	unsigned repetitions; /* 1 or more */
	uint64_t operations;  /* of each CPU */
	bool profile, locks, lines, conflicts;
};

/* What came out of one case. */
struct study_row {
	struct study_case what;
	double *samples_ns;                /* time of one operation of a CPU, one for each repetition */
	double ns_per_operation;           /* their median */
	double operations_per_second;      /* of all CPUs, by the median */
	double seconds;                    /* by the median, see run_extrapolated_seconds() */
	const struct run_result *observed; /* the first repetition, whose reports are shown */
};

struct study {
	struct study_plan plan;
	struct machine_point point; /* the machine's figures as its file says */
	struct study_row *rows;     /* one for each case, in their order */
	struct run_result *results;
};

/*
 * Runs all cases. Returns 0, or a negative errno as run_all() does. study_free() frees what it holds, also
 * after an error. The plan's cases must outlive the study.
 */
int study_run(struct study *study, const struct study_plan *plan, void (*progress)(size_t done, size_t count),
	      struct message *why);
void study_free(struct study *study);

/* How many runs a plan takes, and the request for run number `index`; the point must outlive the requests. */
size_t study_run_count(const struct study_plan *plan);
struct run_request study_request(const struct study_plan *plan, const struct machine_point *point,
				 size_t index);

/* Makes the rows from the results of all runs, which the study then owns. Returns 0 or -ENOMEM. */
int study_collect(struct study *study, const struct study_plan *plan, struct run_result *results);

#endif
