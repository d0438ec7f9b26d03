/* SPDX-License-Identifier: MIT */
/*
 * Costs between sockets where a line's home decides the way (`route: home`): latency, occupancy, travel, each
 * with and without further hops, and what a write has to take away.
 *
 * Sockets 0, 1 and 2 of two cores: 1 hop from 0 to 1, 2 from 0 to 2, 3 from 1 to 2. The line's home is socket
 * 0. CPUs 0 and 1 sit in socket 0, 2 and 3 in 1, 4 and 5 in 2.
 */
#include "tests/vsmp/steps.h"

static void three_sockets(void)
{
	fixture_shape(3, 2, 1);
	steps_costs();
	steps_hops(0, 2, 2);
	steps_hops(1, 2, 3);
}

static void memory_from_afar(void **state)
{
	(void)state;
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_READ, 200, 0});
	three_sockets();
	STEPS(6, 0, {2, 1000, STEP_READ, 200 + 100, 0});
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 200 + 2 * 100, 0});
}

static void reads_of_a_modified_line(void **state)
{
	(void)state;
	/* from the home's socket, by one hop and by two: travel, and the way of the farther leg */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_READ, 50 + 400, 0});
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 2000, STEP_READ, 50 + 7 + 400 + 11, 0});
	/* the owner is the farther one; at home nothing travels */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {2, 2000, STEP_READ, 50 + 400 + 11, 0});
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {0, 2000, STEP_READ, 400 + 11, 0});
	three_sockets();
	STEPS(6, 0, {2, 1000, STEP_WRITE, 300, 0}, {0, 2000, STEP_READ, 400, 0});
	/* all who hold it sit in one socket, though the home is another: the home is not asked */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {5, 2000, STEP_READ, 90, 0}, {4, 3000, STEP_ADD, 140, 0});
}

static void reads_of_a_clean_line(void **state)
{
	(void)state;
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_READ, 450, 0},
	      /* by now in the last-level caches of sockets 0 and 1 */
	      {3, 3000, STEP_READ, 40, 0}, {1, 4000, STEP_READ, 40, 0},
	      /* the home answers, wherever the copies are */
	      {4, 5000, STEP_READ, 57 + 411, 0}, {5, 6000, STEP_READ, 40, 0});
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 2000, STEP_READ, 468, 0},
	      {2, 3000, STEP_READ, 450, 0});
}

static void writes(void **state)
{
	(void)state;
	/* one socket to invalidate; the farther leg counts */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_WRITE, 50 + 300 + 5, 0},
	      {4, 3000, STEP_WRITE, 57 + 300 + 13 + 5, 0}, {2, 4000, STEP_ADD, 50 + 300 + 13 + 5, 0},
	      {0, 5000, STEP_WRITE, 300 + 5, 0});
	/* shared by all three: two sockets besides its own, and the farthest of them counts */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_READ, 450, 0}, {4, 3000, STEP_READ, 468, 0},
	      {1, 4000, STEP_WRITE, 300 + 13 + 2 * 5, 0});
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_READ, 450, 0}, {4, 3000, STEP_READ, 468, 0},
	      {3, 4000, STEP_WRITE, 50 + 300 + 13 + 2 * 5, 0});
	/* the farthest of them need not be the last */
	three_sockets();
	steps_hops(0, 1, 4);
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 2000, STEP_READ, 468, 0},
	      {2, 3000, STEP_READ, 50 + 3 * 7 + 400 + 3 * 11, 0},
	      {1, 4000, STEP_WRITE, 300 + 3 * 13 + 2 * 5, 0});
	/* two copies in one socket are one */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 90, 0},
	      {2, 3000, STEP_WRITE, 355, 0});
}

/* The second request waits at the home until it has done with the first. */
static void occupancies(void **state)
{
	(void)state;
	/* read of a modified line: arrives at 2050, busy for 800 */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_READ, 450, 0},
	      {1, 2060, STEP_WRITE, 790 + 305, 0});
	/* from two hops: arrives at 2057, busy for 817 */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 2000, STEP_READ, 468, 0},
	      {1, 2060, STEP_WRITE, 814 + 318, 0});
	/* read of a clean one: arrives at 3057, busy for 617 */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_READ, 450, 0}, {4, 3000, STEP_READ, 468, 0},
	      {1, 3060, STEP_WRITE, 614 + 323, 0});
	/* a line that was only ever read is clean for its first reader too */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_READ, 200, 0}, {2, 2000, STEP_READ, 450, 0},
	      {1, 2060, STEP_WRITE, 590 + 305, 0});
	/* write: arrives at 2050, busy for 500; from two hops: 2057, 519 */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 2000, STEP_WRITE, 355, 0},
	      {1, 2060, STEP_WRITE, 490 + 305, 0});
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 2000, STEP_WRITE, 375, 0},
	      {1, 2060, STEP_WRITE, 516 + 318, 0});
	/* back to the home's socket: 250, however far it comes */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {0, 2000, STEP_WRITE, 318, 0},
	      {2, 2000, STEP_WRITE, 250 + 305, 0});
}

/* Reads of one socket that wait at the home make one request there, and only that keeps it busy. */
static void riders_from_afar(void **state)
{
	(void)state;
	/* the home is busy until 2550; the second reader gets the line 30 after the first; busy until 3350 */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 1900, STEP_WRITE, 375, 0},
	      {2, 2000, STEP_READ, 476 + 411, 0}, {3, 2001, STEP_READ, 475 + 411 + 30, 0},
	      {1, 2100, STEP_WRITE, 2476 + 817 - 2100 + 323, 0});
	three_sockets();
	fixture_machine.merge_reads = false;
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {4, 1900, STEP_WRITE, 375, 0},
	      {2, 2000, STEP_READ, 476 + 411, 0}, {3, 2001, STEP_READ, 2476 + 817 - 2001 + 90, 0},
	      {1, 2100, STEP_WRITE, 2476 + 817 + 30 - 2100 + 323, 0});
}

/* When a sibling's request that waited comes to its turn, the core may hold the line already. */
static void what_a_sibling_has_fetched(void **state)
{
	(void)state;
	/* CPUs 1 and 4 are the threads of socket 1's core. The line is busy until 2476, and then until 2995.
	 */
	for (int write = 0; write <= 1; write++) {
		fixture_shape(3, 1, 2);
		steps_costs();
		steps_hops(0, 2, 2);
		steps_hops(1, 2, 3);
		fixture_machine.merge_reads = false;
		STEPS(5, 0, {0, 1000, STEP_WRITE, 200, 0}, {2, 1900, STEP_WRITE, 375, 0},
		      {1, 2000, STEP_WRITE, 2476 - 2000 + 318, 0},
		      {4, 2010, write ? STEP_WRITE : STEP_READ, 2995 - 2010 + (write ? 20 : 4), 0});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_from_afar),
	    cmocka_unit_test(reads_of_a_modified_line),
	    cmocka_unit_test(reads_of_a_clean_line),
	    cmocka_unit_test(writes),
	    cmocka_unit_test(occupancies),
	    cmocka_unit_test(riders_from_afar),
	    cmocka_unit_test(what_a_sibling_has_fetched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
