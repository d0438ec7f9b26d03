/* SPDX-License-Identifier: MIT */
/*
 * Exploration finds each fault that was planted (tests/explore/planted/), by a fixed set of seeds, and its
 * report names the line at fault; the same search on the right code finds nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "vsmp/check.h"
#include "vsmp/explore/explore.h"

/* The seeds are 1 to so many, each by each strategy in turn. */
#define SEEDS 20000u

/* So many as often as were needed to find the fault, and at least so many, find nothing in the right code. */
#define TWIN_TIMES 10u
#define TWIN_MIN   500u

static const struct {
	enum explore_strategy strategy;
	unsigned depth;
} strategies[] = {{EXPLORE_PCT, 3}, {EXPLORE_RANDOM, 1}};

/* Where the fault is, the check of the right code that does the same, and the policy under which it does. */
static const struct twin {
	const char *planted, *source, *right, *policy;
} twins[] = {
    {"planted-cow-fork", "cow_fork.c", "cow-fork", "default"},
    {"planted-frame-forgotten", "frame_forgotten.c", "untouched-write-write", "default"},
    {"planted-lookup-2009", "lookup_2009.c", "fault-unmap", "vma_lookup=refcount"},
    {"planted-magazine-twice", "magazine_twice.c", "frames-steal", "frame_cache=magazine"},
    {"planted-memtype-unlocked", "memtype_unlocked.c", "memtype-reserve-reserve", "memtype=spin"},
    {"planted-no-flush", "no_flush.c", "own-swap-dontneed", "default"},
    {"planted-no-recheck", "no_recheck.c", "fault-unmap", "vma_lookup=rcu"},
    {"planted-no-release", "no_release.c", "spinlock", "default"},
    {"planted-prealloc", "prealloc.c", "prealloc", "shmem_alloc=before shmem_account=inode_lock"},
    {"planted-publish", "rcu_misuse.c", "rcu-synchronize", "default"},
    {"planted-read-outside", "rcu_misuse.c", "rcu-synchronize", "default"},
    {"planted-read-recursion", "read_recursion.c", "rwsem", "vma_lookup=rwsem_xadd"},
    {"planted-table-freed", "table_freed.c", "tables-free", "default"},
};

static const struct check *find_check(const char *name)
{
	for (unsigned i = 0; checks[i]; i++)
		if (!strcmp(checks[i]->name, name))
			return checks[i];
	fail_msg("no check %s", name);
	return NULL;
}

/* Whether `kinds` ("data race|condition") names the kind. */
static bool kind_is_one_of(const char *kinds, const char *kind)
{
	size_t length = strlen(kind);

	for (const char *at = kinds; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (!strncmp(at, kind, length) && (!at[length] || at[length] == '|'))
			return true;
	}
	return false;
}

/* The line of `source` that ends in the comment `mark`. */
static unsigned find_mark(const char *source, const char *mark)
{
	char path[256], comment[256], line[512];
	unsigned number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "tests/explore/planted/%s", source);
	snprintf(comment, sizeof(comment), "/* %s */", mark);
	file = fopen(path, "r");
	if (!file)
		fail_msg("no %s: tests run from the root of the sources", path);
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (strstr(line, comment)) {
			fclose(file);
			return number;
		}
	}
	fail_msg("%s has no comment %s", path, comment);
	return 0;
}

/* Names are cut to the file's own in reports; a longer number would be another line. */
static bool names_place(const char *report, const char *place)
{
	size_t length = strlen(place);

	for (const char *at = strstr(report, place); at; at = strstr(at + 1, place))
		if (at[length] < '0' || at[length] > '9')
			return true;
	return false;
}

static void open_or_fail(const struct check *check, const char *policy, unsigned strategy)
{
	const struct explore_config config = {.check = check,
					      .policy = policy,
					      .strategy = strategies[strategy].strategy,
					      .depth = strategies[strategy].depth};
	struct message why = {""};

	if (explore_open(&config, &why))
		fail_msg("%s: %s", check->name, why.text);
}

static void judge(const struct twin *twin, uint64_t seed, const struct explore_outcome *outcome)
{
	const struct check *check = find_check(twin->planted);
	char place[256], *report = NULL;
	struct explore_outcome again;

	snprintf(place, sizeof(place), "%s:%u", twin->source, find_mark(twin->source, check->planted_mark));
	assert_int_equal(explore_report(seed, outcome, 150, &report, &again), 0);
	assert_int_equal(again.kind, outcome->kind);
	if (!kind_is_one_of(check->planted_kind, explore_kind_name(outcome->kind)))
		fail_msg("%s: found as \"%s\" instead of \"%s\"\n%s", check->name,
			 explore_kind_name(outcome->kind), check->planted_kind, report);
	if (!names_place(report, place))
		fail_msg("%s: the report does not name %s\n%s", check->name, place, report);
	free(report);
}

/* Explores until something is found; returns after how many schedules, or 0. */
static uint64_t search(uint64_t seeds, struct explore_outcome *outcome)
{
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		*outcome = explore_run(seed);
		if (outcome->kind != EXPLORE_NOTHING)
			return seed;
	}
	return 0;
}

/* Returns how many schedules it took. */
static uint64_t find_planted(const struct twin *twin)
{
	const struct check *check = find_check(twin->planted);
	uint64_t tried = 0;

	for (unsigned strategy = 0; strategy < ARRAY_SIZE(strategies); strategy++) {
		struct explore_outcome outcome;
		uint64_t seed;

		open_or_fail(check, NULL, strategy);
		seed = search(SEEDS, &outcome);
		if (seed)
			judge(twin, seed, &outcome);
		explore_close();
		tried += seed ? seed : SEEDS;
		if (seed) {
			print_message("%s: %s after %llu schedules\n", check->name,
				      explore_kind_name(outcome.kind), (unsigned long long)tried);
			return tried;
		}
	}
	fail_msg("%s: not found by %llu schedules", check->name, (unsigned long long)tried);
	return 0;
}

static void spare_twin(const struct check *check, const char *policy, uint64_t seeds)
{
	for (unsigned strategy = 0; strategy < ARRAY_SIZE(strategies); strategy++) {
		struct explore_outcome outcome;
		char *report = NULL;
		uint64_t seed;

		open_or_fail(check, policy, strategy);
		seed = search(seeds, &outcome);
		if (seed) {
			explore_report(seed, &outcome, 150, &report, NULL);
			fail_msg("%s, which is right, fails with seed %llu:\n%s", check->name,
				 (unsigned long long)seed, report);
		}
		explore_close();
	}
}

static void each_planted_fault_is_found(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(twins); i++) {
		uint64_t needed = find_planted(&twins[i]) * TWIN_TIMES;

		spare_twin(find_check(twins[i].right), twins[i].policy,
			   needed < TWIN_MIN ? TWIN_MIN : needed);
	}
}

static void each_planted_fault_has_a_twin(void **state)
{
	(void)state;
	for (unsigned i = 0; checks[i]; i++) {
		bool found = false;

		for (unsigned t = 0; t < ARRAY_SIZE(twins); t++)
			found |= !strcmp(twins[t].planted, checks[i]->name);
		assert_int_equal(found, checks[i]->planted_kind != NULL);
		assert_int_equal(checks[i]->planted_mark != NULL, checks[i]->planted_kind != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_planted_fault_has_a_twin),
	    cmocka_unit_test(each_planted_fault_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
