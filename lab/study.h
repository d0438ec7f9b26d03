/* SPDX-License-Identifier: MIT */
/*
 * A study: some variants of one experiment on some numbers of CPUs, each repeated with different seeds.
 * On the virtual machine a seed also decides how far apart the CPUs start.
 */
#ifndef LAB_STUDY_H
#define LAB_STUDY_H

#include "lab/computer.h"
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
	uint64_t warm_up;     /* of each CPU, before; 0: as many as the experiment says */
	bool profile, locks, lines, conflicts;
	const struct what_if *what_if; /* what is changed, its figures in `machine` already; NULL: nothing */
	bool limits; /* observe locks and lines even if these were not asked for: see lab/scaling.h */
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
	struct computer computer;   /* where the plan has no machine: as it was before the first run */
	struct study_row *rows;     /* one for each case, in their order */
	struct run_result *results;
};

/*
 * Runs all cases; without a machine, in turns and after a warm-up run of each. Returns 0, or a negative errno
 * as run_all() does. study_free() frees what it holds, also after an error. The plan's cases must outlive the
 * study.
 */
int study_run(struct study *study, const struct study_plan *plan, void (*progress)(size_t done, size_t count),
	      struct message *why);
void study_free(struct study *study);

/* How many runs a plan takes, and the request for run number `index`; the point must outlive the requests. */
size_t study_run_count(const struct study_plan *plan);
struct run_request study_request(const struct study_plan *plan, const struct machine_point *point,
				 size_t index);

/* How many operations each CPU does before it is measured. */
uint64_t study_warm_up(const struct study_plan *plan);

/* The number of the run that is made as number `step`, when a study runs. */
size_t study_order(const struct study_plan *plan, size_t step);

/* Makes the rows from the results of all runs, which the study then owns. Returns 0 or -ENOMEM. */
int study_collect(struct study *study, const struct study_plan *plan, struct run_result *results);

#endif
