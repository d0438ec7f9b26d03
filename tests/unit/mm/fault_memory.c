/* SPDX-License-Identifier: MIT */
/*
 * Faults when there are no frames.
 */
#include "tests/unit/mm/fault_fixture.h"

/* Root, two levels, and what is left for last-level tables and pages. */
#define FRAMES 64u

/* Touches pages until there is no frame. Returns how many were had. */
static uint64_t fill(struct sf_space *space, uint64_t address, enum sf_access access)
{
	struct sf_signal signal = {.signal = 1};
	uint64_t pages = 0;
	int error;

	while (!(error = sf_touch(space, address + pages * PAGE, access, &signal)))
		pages++;
	assert_int_equal(error, -ENOMEM);
	assert_int_equal(signal.signal, 0);
	return pages;
}

static void run_out_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system), *child = NULL;
	unsigned char byte = 1;
	uint64_t pages;

	map_at(space, BASE, 256, RW, SF_MAP_PRIVATE);
	pages = fill(space, BASE, SF_WRITE);
	assert_true(pages > FRAMES / 2 && pages < FRAMES);
	assert_good(system);
	/* It can be had again, when one was given back. */
	assert_int_equal(sf_advise(space, BASE, PAGE, SF_ADVICE_DONTNEED), 0);
	assert_touch(space, BASE + pages * PAGE, SF_WRITE);
	assert_int_equal(sf_touch(space, BASE, SF_WRITE, NULL), -ENOMEM);
	/* The zero page costs none. */
	assert_touch(space, BASE, SF_READ);
	assert_int_equal(sf_touch(space, BASE, SF_WRITE, NULL), -ENOMEM);
	assert_int_equal(get_byte(space, BASE), 0);
	assert_good(system);

	/* Nor is there one for a table. */
	map_at(space, 16 * BASE, 1, RW, SF_MAP_PRIVATE);
	assert_int_equal(sf_touch(space, 16 * BASE, SF_READ, NULL), -ENOMEM);
	assert_int_equal(sf_write(space, 16 * BASE, &byte, 1, NULL), 0);
	assert_good(system);

	/* Half given back, a child, and copies until none is left. */
	assert_int_equal(sf_advise(space, BASE, 32 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_true(fill(child, BASE + 32 * PAGE, SF_WRITE) > 0);
	assert_good(system);
	sf_space_destroy(child);
	assert_good(system);
	sf_space_destroy(space);
}

static void every_fault_survives_running_out(void **state)
{
	(void)state;
	for_each_policy(FRAMES, run_out_body);
}

static void shared_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	uint64_t pages;

	map_at(space, BASE, 256, RW, SF_MAP_SHARED);
	pages = fill(space, BASE, SF_READ);
	assert_true(pages > FRAMES / 2);
	assert_good(system);
	assert_int_equal(sf_unmap(space, BASE, 256 * PAGE), 0);
	assert_good(system);
	sf_space_destroy(space);
}

static void shared_memory_runs_out(void **state)
{
	(void)state;
	for_each_policy(FRAMES, shared_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(every_fault_survives_running_out),
	    fault_test(shared_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
