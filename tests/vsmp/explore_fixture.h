/* SPDX-License-Identifier: MIT */
/*
 * Explores a check that a test makes up: what its schedules come to.
 */
#ifndef TESTS_VSMP_EXPLORE_FIXTURE_H
#define TESTS_VSMP_EXPLORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "vsmp/check.h"
#include "vsmp/explore/explore.h"

static int fixture_nothing(struct message *why)
{
	(void)why;
	return 0;
}

static bool fixture_true(struct message *why)
{
	(void)why;
	return true;
}

static void fixture_none(void)
{
}

/* Fills in what a check must have and a test may leave out, and opens it. `depth` is that of PCT. */
static inline void fixture_open_as(struct check *check, enum explore_strategy strategy, unsigned depth)
{
	struct explore_config config = {.check = check, .strategy = strategy, .depth = depth};
	struct message why = {""};

	if (!check->setup)
		check->setup = fixture_nothing;
	if (!check->holds)
		check->holds = fixture_true;
	if (!check->teardown)
		check->teardown = fixture_none;
	if (explore_open(&config, &why))
		fail_msg("%s: %s", check->name, why.text);
}

static inline void fixture_open(struct check *check)
{
	fixture_open_as(check, EXPLORE_RANDOM, 0);
}

/* Fails the test with the report of the schedule of `seed`. */
static inline void fixture_fail(const struct check *check, uint64_t seed, const char *what)
{
	char *text = NULL;

	explore_report(seed, NULL, 120, &text, NULL);
	print_error("%s\n", text ? text : "no report");
	free(text);
	fail_msg("%s, seed %llu: %s", check->name, (unsigned long long)seed, what);
}

/*
 * Runs `seeds` schedules. Each must end well, or as `kind`; and at least one as `kind` if that is a failure.
 */
static inline void fixture_explore(struct check *check, uint64_t seeds, enum explore_kind kind)
{
	uint64_t found = 0;

	fixture_open(check);
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct explore_outcome outcome = explore_run(seed);

		if (outcome.kind == kind)
			found++;
		else if (outcome.kind != EXPLORE_NOTHING)
			fixture_fail(check, seed, explore_kind_name(outcome.kind));
	}
	explore_close();
	if (!found)
		fail_msg("%s: no schedule of %llu ends as: %s", check->name, (unsigned long long)seeds,
			 explore_kind_name(kind));
}

#endif
