/* SPDX-License-Identifier: MIT */
/*
 * Page tables come and go: two faults that need the same tables, and a fault in a table that an unmap takes
 * away.
 */
#include <errno.h>
#include <stddef.h>

#include "tests/explore/fixture.h"

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (!error)
		fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	return error;
}

static void touch_first(void)
{
	fixture.result[0] = sf_touch(fixture.space, AT, SF_READ, NULL);
}

static void touch_second(void)
{
	fixture.result[1] = sf_touch(fixture.space, AT + PAGE, SF_READ, NULL);
}

static bool holds_made(struct message *why)
{
	struct sf_space_statistics statistics;

	sf_space_statistics(fixture.space, &statistics);
	return fixture_good(why) && fixture_equal("the first touch", (uint64_t)fixture.result[0], 0, why) &&
	       fixture_equal("the second touch", (uint64_t)fixture.result[1], 0, why) &&
	       fixture_equal("bytes of tables", statistics.page_tables, 4 * PAGE, why);
}

const struct check tables_make_check = {
    .name = "tables-make",
    .summary = "two faults that make the same page tables",
    .setup = setup,
    .body = {touch_first, touch_second},
    .holds = holds_made,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* The table is there, with the zero page and a page of its own; all of it goes with the mapping, and the
 * frames are used again. */
static int setup_made(struct message *why)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	fixture_map(AT, 3, RW, SF_MAP_PRIVATE);
	check_that(!sf_touch(fixture.space, AT + PAGE, SF_READ, NULL));
	check_that(!sf_touch(fixture.space, AT + 2 * PAGE, SF_WRITE, NULL));
	return 0;
}

static void unmap_and_reuse(void)
{
	check_that(!sf_unmap(fixture.space, AT, 3 * PAGE));
	check_that(!system_pte(fixture.space, AT) && !system_pte(fixture.space, AT + 2 * PAGE));
	fixture_map(AWAY, 1, RW, SF_MAP_PRIVATE);
	check_that(!sf_touch(fixture.space, AWAY, SF_WRITE, NULL));
}

static bool holds_gone(struct message *why)
{
	if (fixture.result[0] && fixture.result[0] != -EFAULT)
		return fixture_equal("what the touch returned", (uint64_t)fixture.result[0], 0, why);
	return fixture_equal("the entry", system_pte(fixture.space, AT), 0, why) && fixture_good(why);
}

const struct check tables_free_check = {
    .name = "tables-free",
    .summary = "a fault in a page table that an unmap takes away",
    .setup = setup_made,
    .body = {touch_first, unmap_and_reuse},
    .holds = holds_gone,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};
