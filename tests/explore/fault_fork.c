/* SPDX-License-Identifier: MIT */
/*
 * Copy on write against a second fork (docs/LOCKING.md, "Copy on write"). The page is shared with a child, so
 * a write must copy it. Meanwhile the child goes; another CPU finds itself the page's only user and writes to
 * it; and a second fork protects it again. Its entry is what it was when the first CPU looked, but the page
 * is written through a translation from before the second fork.
 *
 *   CPU 0   writes its word: a copy
 *   CPU 1   takes the child away, writes, forks again
 *   CPU 2   counts its own word up, and must never lose a count
 */
#include <stddef.h>

#include "tests/explore/fixture.h"

#define COUNTS 2u

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 0);
	fixture_fork();
	return 0;
}

static void write_word(void)
{
	fixture_store(fixture.space, AT + 8, 1);
}

static void fork_again(void)
{
	check_that(!sf_unmap(fixture.child, AT, PAGE));
	fixture_store(fixture.space, AT + 16, 2);
	check_that(!sf_space_fork(fixture.space, &fixture.made[1]));
}

static void count(void)
{
	for (uint64_t i = 0; i < COUNTS; i++) {
		uint64_t expected = i;

		check_equal(sf_compare_swap_64(fixture.space, AT + 24, &expected, i + 1, NULL), 1);
	}
}

static bool holds(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("CPU 0's word", fixture_load(fixture.space, AT + 8), 1, why) &&
	       fixture_equal("CPU 1's word", fixture_load(fixture.space, AT + 16), 2, why) &&
	       fixture_equal("CPU 2's count", fixture_load(fixture.space, AT + 24), COUNTS, why) &&
	       fixture_equal("CPU 1's word in its child", fixture_load(fixture.made[1], AT + 16), 2, why);
}

static void teardown(void)
{
	sf_space_destroy(fixture.made[1]);
	fixture_close();
}

const struct check fault_fork_again_check = {
    .name = "fault-fork-again",
    .summary = "a copy on write against an end of sharing, a write and a second fork",
    .setup = setup,
    .body = {write_word, fork_again, count},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_pairwise,
};

/* The same with a page that is the parent's alone: what the child has is of one moment. */
static int setup_alone(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 0);
	return 0;
}

static void fork_and_look(void)
{
	uint64_t before;

	check_that(!sf_space_fork(fixture.space, &fixture.made[1]));
	before = fixture_load(fixture.made[1], AT + 24);
	fixture_store(fixture.made[1], AT + 8, 3);
	check_equal(fixture_load(fixture.made[1], AT + 24), before);
}

static bool holds_alone(struct message *why)
{
	uint64_t copied = fixture_load(fixture.made[1], AT + 24);

	return fixture_good(why) &&
	       fixture_equal("the count", fixture_load(fixture.space, AT + 24), COUNTS, why) &&
	       (copied <= COUNTS || fixture_equal("the child's count", copied, COUNTS, why)) &&
	       fixture_equal("what the child wrote", fixture_load(fixture.space, AT + 8), 0, why);
}

const struct check fault_fork_check = {
    .name = "fault-fork",
    .summary = "writes of parent and child against the fork that shares the page",
    .setup = setup_alone,
    .body = {count, fork_and_look},
    .holds = holds_alone,
    .teardown = teardown,
    .variants = variants_pairwise,
};
