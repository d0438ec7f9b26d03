/* SPDX-License-Identifier: MIT */
/*
 * Exploration of schedules, as the virtual machine's engine exports it: one table, since that engine is
 * linked into an object of its own. vsmp/explore/explore.h has the contract of each function.
 */
#ifndef ENGINE_EXPLORE_H
#define ENGINE_EXPLORE_H

#include "vsmp/check.h"
#include "vsmp/explore/explore.h"

struct explorer {
	const struct check *const *checks; /* all, ended by NULL */
	const char *(*kind_name)(enum explore_kind kind);
	unsigned (*default_cpus)(const struct check *check);

	int (*open)(const struct explore_config *config, struct message *why);
	void (*close)(void);
	uint64_t (*steps)(void);
	double (*bound)(unsigned cpus, uint64_t steps, unsigned depth);
	struct explore_outcome (*run)(uint64_t seed);
	int (*report)(uint64_t seed, const struct explore_outcome *expected, unsigned columns, char **text,
		      struct explore_outcome *outcome);

	/* One schedule of whatever the engine runs between the two. */
	void (*schedule_begin)(enum explore_strategy strategy, unsigned depth, uint64_t steps, uint64_t seed);
	struct explore_outcome (*schedule_end)(const char *wrong);
	int (*schedule_report)(struct explore_outcome (*again)(void *argument), void *argument,
			       const char *title, const struct explore_outcome *expected, unsigned columns,
			       char **text, struct explore_outcome *outcome);
};

extern const struct explorer engine_explorer;

#endif
