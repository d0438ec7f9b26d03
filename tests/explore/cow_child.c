/* SPDX-License-Identifier: MIT */
/*
 * A page that parent and child share. One CPU of the parent reads it; another one's write replaces it by a
 * copy; and the child, which has it alone then, writes to it: not before the reader is done with what it has
 * found.
 */
#include <stddef.h>

#include "tests/explore/fixture.h"

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT + 8, 1);
	fixture_fork();
	return 0;
}

static void read_in_parent(void)
{
	for (unsigned i = 0; i < 2; i++)
		check_equal(fixture_load(fixture.space, AT + 8), 1);
}

static void write_in_parent(void)
{
	fixture_store(fixture.space, AT + 16, 2);
}

static void write_in_child(void)
{
	fixture_store(fixture.child, AT + 8, 3);
}

static bool holds(struct message *why)
{
	return fixture_equal("the parent's first word", fixture_load(fixture.space, AT + 8), 1, why) &&
	       fixture_equal("the parent's second word", fixture_load(fixture.space, AT + 16), 2, why) &&
	       fixture_equal("the child's first word", fixture_load(fixture.child, AT + 8), 3, why) &&
	       fixture_equal("the child's second word", fixture_load(fixture.child, AT + 16), 0, why) &&
	       fixture_good(why);
}

const struct check cow_child_check = {
    .name = "cow-child",
    .summary = "a read in the parent against a copy in the parent and a write in the child",
    .setup = setup,
    .body = {read_in_parent, write_in_parent, write_in_child},
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};
