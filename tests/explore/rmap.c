/* SPDX-License-Identifier: MIT */
/*
 * The reverse map: intervals come and go while others are walked. One that stays is met by every walk, once.
 */
#include <stddef.h>

#include "mm/rmap/rmap.h"
#include "tests/explore/fixture.h"

static struct interval stays, comes, goes;

static void add_interval(struct interval *interval, uint64_t start)
{
	struct sf_object *object = fixture.object;

	*interval = (struct interval){.start = start, .end = start + 2};
	down_write(&object->mappings_lock);
	rmap_add_locked(object, interval);
	up_write(&object->mappings_lock);
}

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	fixture_shmem(4, 0);
	add_interval(&stays, 1);
	add_interval(&goes, 2);
	return 0;
}

static void change(void)
{
	add_interval(&comes, 0);
	rmap_remove(fixture.object, &goes);
}

static void visit(struct interval *interval, void *argument)
{
	unsigned *met = argument;

	*met += interval == &stays ? 1 : 0x100;
}

static void walk(void)
{
	unsigned met = 0;

	rmap_walk(fixture.object, 1, 3, visit, &met);
	fixture.result[1] = (int)met;
}

static bool holds(struct message *why)
{
	unsigned others = (unsigned)fixture.result[1] >> 8;

	return fixture_equal("times that the interval was met", (uint64_t)fixture.result[1] & 0xff, 1, why) &&
	       (others <= 2 || fixture_equal("other intervals", others, 2, why)) &&
	       fixture_equal("mappings", fixture.object->mapping_count, 2, why);
}

static void teardown(void)
{
	rmap_remove(fixture.object, &stays);
	rmap_remove(fixture.object, &comes);
	fixture_close();
}

const struct check rmap_check = {
    .name = "rmap",
    .summary = "a walk over the mappings of an object while one comes and another one goes",
    .setup = setup,
    .body = {change, walk},
    .holds = holds,
    .teardown = teardown,
};
