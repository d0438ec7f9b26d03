/* SPDX-License-Identifier: MIT */
/*
 * The reverse map: links come and go while others are walked. One that stays is met by every walk, once.
 */
#include <stddef.h>

#include "mm/rmap/object_link.h"
#include "tests/explore/fixture.h"

static struct object_link stays, comes, goes;

static void add_link(struct object_link *link, uint64_t start)
{
	struct sf_object *object = fixture.object;

	*link = (struct object_link){.pages = {.start = start, .end = start + 2}};
	down_write(&object->mappings_lock);
	object_link_add_locked(object, link);
	up_write(&object->mappings_lock);
}

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	fixture_shmem(4, 0);
	add_link(&stays, 1);
	add_link(&goes, 2);
	return 0;
}

static void change(void)
{
	add_link(&comes, 0);
	object_link_remove(fixture.object, &goes);
}

static bool visit(struct object_link *link, void *argument)
{
	unsigned *met = argument;

	*met += link == &stays ? 1 : 0x100;
	return true;
}

static void walk(void)
{
	unsigned met = 0;

	object_link_walk(fixture.object, 1, 3, visit, &met);
	fixture.result[1] = (int)met;
}

static bool holds(struct message *why)
{
	unsigned others = (unsigned)fixture.result[1] >> 8;

	return fixture_equal("times that the link was met", (uint64_t)fixture.result[1] & 0xff, 1, why) &&
	       (others <= 2 || fixture_equal("other links", others, 2, why)) &&
	       fixture_equal("mappings", fixture.object->mapping_count, 2, why);
}

static void teardown(void)
{
	object_link_remove(fixture.object, &stays);
	object_link_remove(fixture.object, &comes);
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
