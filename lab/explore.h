/* SPDX-License-Identifier: MIT */
/*
 * Explorations: many schedules of one check, or of one experiment in a small form, in several processes. What
 * is found does not depend on how many these are: of the schedules that fail, it is the one with the lowest
 * seed.
 */
#ifndef LAB_EXPLORE_H
#define LAB_EXPLORE_H

#include "engine/explore.h"
#include "lab/run.h"

/* What each CPU does of an experiment's operations in one schedule. */
#define EXPLORATION_OPERATIONS 4u

struct exploration {
	const char *name;                  /* of the check or experiment */
	const struct check *check;         /* NULL: an experiment */
	const char *policy;                /* of a check */
	const struct run_request *request; /* of an experiment, but for its seed */
	unsigned cpus;                     /* 2 to CHECK_CPUS_MAX */
	enum explore_strategy strategy;
	unsigned depth;
	uint64_t seed, runs; /* the seeds are seed to seed + runs - 1 */
	unsigned jobs;       /* processes at a time */
};

struct exploration_result {
	uint64_t runs;  /* that were made, as far as we heard */
	uint64_t steps; /* see explore_steps() */
	double bound;   /* see explore_bound(); of PCT */
	bool failed;
	uint64_t seed; /* of the failure */
	struct explore_outcome outcome;
	char *report; /* of the failure, to be freed */
};

/*
 * Explores until a schedule has failed or all are done. Returns 0; -EINVAL with a message for what cannot be
 * explored, before anything was; another negative errno with a message; -EINTR after a signal, with the
 * result as far as it had come. `progress` may be NULL.
 */
int exploration_run(const struct exploration *what, unsigned columns, struct exploration_result *result,
		    void (*progress)(size_t done, size_t runs), struct message *why);

/*
 * Runs the schedule of one seed, twice, and reports it; `fingerprint`, if not NULL, must be that of the
 * first. result->report is set, whether the schedule failed or not.
 */
int exploration_replay(const struct exploration *what, uint64_t seed, const uint64_t *fingerprint,
		       unsigned columns, struct exploration_result *result, struct message *why);

/* The probability of finding a bug by `runs` schedules when one finds it with that of `bound`. */
double exploration_bound(double bound, uint64_t runs);

/* Whether a text is a policy to explore a check under, also one that looks at none. Returns 0; -EINVAL or
 * -ENOENT with a message. */
int exploration_check_policy(const char *text, struct message *why);

/*
 * Finds the check called `name`, or reads the experiment. Returns 0 with one of the two set, the other NULL
 * (experiment_free() frees it); -ENOENT with a message that lists names like it; or what experiment_load()
 * returned.
 */
int exploration_find(const char *name, const struct check **check, struct experiment **experiment,
		     struct message *why);

#endif
