/* SPDX-License-Identifier: MIT */
/*
 * Costs where every transfer is ordered at the home and walks the whole way around (`route: round`): home to
 * owner, owner to requester, requester to home. The parameters are for no hop at all.
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
	fixture_machine.route = VSMP_ROUTE_ROUND;
	fixture_machine.merge_reads = false;
}

static void reads(void **state)
{
	(void)state;
	/* even within the home's socket it is a transfer through the home */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 400, 0});
	/* home 0, owner 2, requester 1: 2 + 3 + 1 hops */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {2, 2000, STEP_READ, 50 + 400 + 6 * 11, 0});
	/* owner and requester in one socket: 2 + 0 + 2 */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {5, 2000, STEP_READ, 57 + 400 + 4 * 11, 0});
	/* who owned a line goes on answering for it: 2 + 2 + 0, then 2 + 3 + 1 */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {1, 2000, STEP_READ, 400 + 4 * 11, 0},
	      {0, 3000, STEP_READ, 400 + 4 * 11, 0}, {2, 4000, STEP_READ, 50 + 400 + 6 * 11, 0},
	      {3, 5000, STEP_READ, 50 + 400 + 6 * 11, 0}, {3, 6000, STEP_READ, 4, 0});
}

static void writes(void **state)
{
	(void)state;
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 300, 0},
	      /* 0 + 1 + 1, another socket */
	      {2, 3000, STEP_ADD, 50 + 300 + 2 * 13 + 5, 0},
	      /* 1 + 3 + 2 */
	      {4, 4000, STEP_WRITE, 57 + 300 + 6 * 13 + 5, 0});
	/* shared, and core 4's socket answers: 2 + 3 + 1; it and socket 0 lose their copies */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {0, 2000, STEP_READ, 444, 0}, {3, 3000, STEP_READ, 516, 0},
	      {2, 4000, STEP_WRITE, 50 + 300 + 6 * 13 + 2 * 5, 0});
}

static void occupancies(void **state)
{
	(void)state;
	/* read of a modified line, no hop: busy until 2800; the next is served then, and from another socket
	 */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 400, 0},
	      {2, 2100, STEP_WRITE, 700 + 300 + 2 * 13 + 5, 0});
	/* six hops: arrives at 2050, busy for 800 + 6 x 17 */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {2, 2000, STEP_READ, 516, 0},
	      {1, 2100, STEP_WRITE, 2952 - 2100 + 300 + 4 * 13 + 2 * 5, 0});
	/* read of a clean line, answered from socket 2: arrives at 3050, busy for 600 + 6 x 17 */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {1, 2000, STEP_READ, 444, 0}, {2, 3000, STEP_READ, 516, 0},
	      {0, 3100, STEP_WRITE, 3752 - 3100 + 300 + 4 * 13 + 2 * 5, 0});
	/* write, six hops: arrives at 2050, busy for 500 + 6 x 19 */
	three_sockets();
	STEPS(6, 0, {4, 1000, STEP_WRITE, 400, 0}, {2, 2000, STEP_WRITE, 50 + 300 + 6 * 13 + 5, 0},
	      {1, 2100, STEP_WRITE, 2664 - 2100 + 300 + 2 * 13 + 5, 0});
	/* in the home's socket a write is as busy as elsewhere */
	three_sockets();
	STEPS(6, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 300, 0},
	      {0, 2100, STEP_WRITE, 400 + 300, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads),
	    cmocka_unit_test(writes),
	    cmocka_unit_test(occupancies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
