/* SPDX-License-Identifier: MIT */
/*
 * An experiment as its file describes it, without its published figures: those are in lab/published.h, which
 * only reports include, so that no simulation can look at them. docs/EXPERIMENTS.md tells how a file looks.
 */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "lab/document.h"
#include "lab/workload.h"

/* One field of a policy that differs from the base, or one option of the workload. */
struct experiment_choice {
	char *field, *choice;
};

/* A named memory system: a base of mm/policy and what differs from it; and how the workload runs on it. */
struct experiment_variant {
	char *name;
	char *base;
	char *what;
	struct experiment_choice *set;
	uint32_t set_count;
	struct experiment_choice *options; /* of the workload; the others are at their defaults */
	uint32_t options_count;
};

/* A variant, and the numbers of CPUs on which `reproduce` shows it. */
struct experiment_shown_case {
	char *variant;
	uint32_t *cpus;
	uint32_t cpus_count;
};

struct experiment {
	char *name;
	char *title;
	char *source; /* the message or paper that it replays */
	char *workload;
	char *machine; /* the default one, on which the published figures were measured */
	uint32_t *cpus;
	uint32_t cpus_count;
	struct {
		uint64_t published; /* of each CPU, in the published measurement; 0 where that is not known */
		uint64_t simulated; /* of each CPU, in the measured window of a run */
		uint64_t warm_up;   /* of each CPU, before it */
		uint64_t sweep;     /* instead of simulated, in the runs over assumed figures */
		uint64_t sweep_warm_up;
		bool sweep_corners_only; /* a run is too long for one at either end of each figure */
	} operations;
	struct experiment_variant *variants;
	uint32_t variants_count;
	struct {                      /* what `reproduce` shows beside what was published, see lab/shown.h */
		uint32_t repetitions; /* 0 counts as 1 */
		struct experiment_shown_case *cases;
		uint32_t cases_count;
	} shown;
};

/*
 * Finds and reads the experiment called `name`. Returns 0; -ENOENT with a message when there is none; -EINVAL
 * with a located message; -ENOMEM. experiment_free() frees it.
 * `document`, if not NULL, is left open on the file for published_load().
 */
int experiment_load(struct experiment **experiment, const char *name, struct document **document,
		    struct message *why);
void experiment_free(struct experiment *experiment);

/* Returns the variant called `name`, or NULL with a message that lists the names. */
const struct experiment_variant *experiment_variant(const struct experiment *experiment, const char *name,
						    struct message *why);

/* Makes the policy of a variant, which experiment_load() has found to be possible; and what it sets of the
 * experiment's workload. */
void experiment_policy(const struct experiment_variant *variant, struct policy *policy);
void experiment_settings(const struct experiment *experiment, const struct experiment_variant *variant,
			 struct workload_settings *settings);

#endif
