/* SPDX-License-Identifier: MIT */
/*
 * The page index of shared memory: two spaces that touch the same page get one page; and the object goes with
 * its last mapping, not before.
 */
#include <errno.h>
#include <stddef.h>

#include "tests/explore/fixture.h"

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_SHARED);
	fixture_fork();
	return 0;
}

static void write_in_parent(void)
{
	fixture_store(fixture.space, AT + 8, 1);
}

static void write_in_child(void)
{
	fixture_store(fixture.child, AT + 16, 2);
}

static bool holds(struct message *why)
{
	return fixture_equal("the parent's word", fixture_load(fixture.child, AT + 8), 1, why) &&
	       fixture_equal("the child's word", fixture_load(fixture.space, AT + 16), 2, why) &&
	       fixture_good(why);
}

const struct check shared_index_check = {
    .name = "shared-index",
    .summary = "faults of two spaces that make one page of shared memory",
    .setup = setup,
    .body = {write_in_parent, write_in_child},
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_object,
};

static void unmap_in_parent(void)
{
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
}

static void end_child(void)
{
	sf_space_destroy(fixture.child);
	fixture.child = NULL;
}

static void touch(void)
{
	fixture.result[2] = sf_touch(fixture.space, AT, SF_WRITE, NULL);
}

static bool holds_gone(struct message *why)
{
	struct sf_system_statistics statistics;

	if (!fixture_good(why))
		return false;
	sf_system_statistics(fixture.system, &statistics);
	/* What is left is the space's root and upper tables. */
	return (!fixture.result[2] ||
		fixture_equal("what the touch returned", (uint64_t)(int64_t)fixture.result[2],
			      (uint64_t)-EFAULT, why)) &&
	       fixture_equal("frames in use", statistics.frames - 1 - statistics.free_frames,
			     statistics.table_frames, why);
}

const struct check shared_end_check = {
    .name = "shared-end",
    .summary = "a fault on shared memory against the ends of all its mappings",
    .setup = setup,
    .body = {unmap_in_parent, end_child, touch},
    .holds = holds_gone,
    .teardown = fixture_close,
    .variants = variants_lookup,
};
