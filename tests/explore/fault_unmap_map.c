/* SPDX-License-Identifier: MIT */
/*
 * Writes to private memory while another CPU unmaps it, uses the frame for something else, and maps the same
 * range again. What stands at the place in the end is the new mapping's: zero, or a later write.
 */
#include <errno.h>
#include <stddef.h>

#include "tests/explore/fixture.h"

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	fixture_map(AT + 8 * PAGE, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 1);
	return 0;
}

static void write_all(void)
{
	for (uint64_t page = 0; page < 2; page++) {
		const uint64_t value = 2;
		size_t bytes = sf_write(fixture.space, AT + page * PAGE + 8, &value, sizeof(value), NULL);

		check_that(bytes == sizeof(value) || !bytes);
	}
}

static void unmap_and_map(void)
{
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
	check_that(!system_pte(fixture.space, AT) && !system_pte(fixture.space, AT + PAGE));
	fixture_store(fixture.space, AT + 8 * PAGE, 3);
	check_that(!system_pte(fixture.space, AT) && !system_pte(fixture.space, AT + PAGE));
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	check_equal(fixture_load(fixture.space, AT), 0);
	check_equal(fixture_load(fixture.space, AT + 8 * PAGE), 3);
}

static bool holds(struct message *why)
{
	uint64_t value = 0;

	if (!fixture_good(why))
		return false;
	for (uint64_t page = 0; page < 2; page++) {
		if (!fixture_equal("the first word", fixture_load(fixture.space, AT + page * PAGE), 0, why))
			return false;
		value = fixture_load(fixture.space, AT + page * PAGE + 8);
		if (value && !fixture_equal("the second word", value, 2, why))
			return false;
	}
	return fixture_equal("the other page", fixture_load(fixture.space, AT + 8 * PAGE), 3, why);
}

const struct check fault_unmap_map_check = {
    .name = "fault-unmap-map",
    .summary = "write faults against an unmap and a new mapping of the same range",
    .setup = setup,
    .body = {write_all, unmap_and_map},
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};
