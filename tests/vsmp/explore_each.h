/* SPDX-License-Identifier: MIT */
/*
 * Exploration of checks that are right, for the tests that run those of tests/explore/: each under a bounded
 * number of schedules with each of its variants, and with its condition inverted.
 */
#ifndef TESTS_VSMP_EXPLORE_EACH_H
#define TESTS_VSMP_EXPLORE_EACH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "vsmp/check.h"
#include "vsmp/explore/explore.h"

static inline void each_open(const struct explore_config *config)
{
	struct message why = {""};

	if (explore_open(config, &why))
		fail_msg("%s with %s: %s", config->check->name, config->policy, why.text);
}

static inline void each_fail(const struct explore_config *config, uint64_t seed,
			     const struct explore_outcome *outcome)
{
	char *text = NULL;

	explore_report(seed, outcome, 150, &text, NULL);
	fail_msg("%s with \"%s\", %s, seed %llu: %s\n%s", config->check->name, config->policy,
		 config->strategy == EXPLORE_PCT ? "pct" : "random", (unsigned long long)seed,
		 explore_kind_name(outcome->kind), text ? text : "");
}

static inline void each_explore(const struct explore_config *config, uint64_t first_seed, uint64_t schedules)
{
	each_open(config);
	for (uint64_t seed = first_seed; seed < first_seed + schedules; seed++) {
		struct explore_outcome outcome = explore_run(seed);

		if (outcome.kind != EXPLORE_NOTHING)
			each_fail(config, seed, &outcome);
	}
	explore_close();
}

/*
 * So many schedules of each variant, by each strategy; fewer, so that they are EACH_MAX in all, where there
 * are many variants, which share most of the code. Seeds differ between the variants, so that more of them
 * come to be tried. Leaves out what is planted. `make explore` goes on for longer, with other seeds.
 */
#define EACH_MAX UINT64_C(3000)

/* What clang builds goes through the same hooks in nearly the same order: fewer schedules do, and others. */
#ifdef __clang__
#define EACH_PART       3u
#define EACH_FIRST_SEED UINT64_C(1000001)
#else
#define EACH_PART       1u
#define EACH_FIRST_SEED UINT64_C(1)
#endif

static inline void each_holds(const struct check *const *list, uint64_t schedules_max)
{
	static const char *const no_variants[] = {"default", NULL};

	for (; *list; list++) {
		const char *const *variants = (*list)->variants ? (*list)->variants : no_variants;
		uint64_t schedules = schedules_max;
		unsigned count = 0;

		while (variants[count])
			count++;
		if (schedules > EACH_MAX / count)
			schedules = EACH_MAX / count;
		schedules = (schedules + EACH_PART - 1) / EACH_PART;
		for (unsigned i = 0; i < count && !(*list)->planted_kind; i++) {
			struct explore_config config = {.check = *list, .policy = variants[i]};

			config.strategy = EXPLORE_RANDOM;
			each_explore(&config, EACH_FIRST_SEED + i * schedules, schedules);
			config.strategy = EXPLORE_PCT;
			config.depth = 3;
			each_explore(&config, EACH_FIRST_SEED + i * schedules, schedules);
		}
	}
}

/* With its condition inverted every check fails. Some planted faults do in any case, and before that. */
static inline void each_condition_is_looked_at(const struct check *const *list)
{
	for (; *list; list++) {
		const struct explore_config config = {
		    .check = *list, .strategy = EXPLORE_PCT, .depth = 1, .invert = true};
		bool found = false;

		each_open(&config);
		for (uint64_t seed = 1; seed <= 20 && !found; seed++) {
			enum explore_kind kind = explore_run(seed).kind;

			if (kind == EXPLORE_NOTHING)
				fail_msg("%s: the inverted condition holds, seed %llu", (*list)->name,
					 (unsigned long long)seed);
			found = kind == EXPLORE_CONDITION || (*list)->planted_kind;
		}
		if (!found)
			fail_msg("%s: its condition was never looked at", (*list)->name);
		explore_close();
	}
}

/* The two tests of a list of checks that LIST(X) names, for a program. */
#define EACH_DECLARE(name) extern const struct check name;
#define EACH_ROW(name)     &name,
#define EACH_TESTS(LIST, schedules)                                           \
	LIST(EACH_DECLARE)                                                    \
	static const struct check *const each_list[] = {LIST(EACH_ROW) NULL}; \
                                                                              \
	static void every_check_holds(void **state)                           \
	{                                                                     \
		(void)state;                                                  \
		each_holds(each_list, schedules);                             \
	}                                                                     \
                                                                              \
	static void every_condition_is_looked_at(void **state)                \
	{                                                                     \
		(void)state;                                                  \
		each_condition_is_looked_at(each_list);                       \
	}

#endif
