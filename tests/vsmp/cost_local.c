/* SPDX-License-Identifier: MIT */
/*
 * Costs inside a core and inside a socket: memory, hits, copies from another core, how long each keeps the
 * line busy, and threads that share a core.
 */
#include "tests/vsmp/steps.h"

static void socket_of(unsigned cores, unsigned threads)
{
	fixture_shape(1, cores, threads);
	steps_costs();
}

static void memory_and_hits(void **state)
{
	(void)state;
	socket_of(1, 1);
	STEPS(1, 0, {0, 1000, STEP_READ, 200, 0}, {0, 2000, STEP_READ, 4, 0}, {0, 3000, STEP_PLAIN, 4, 0},
	      {0, 4000, STEP_WRITE, 4, 0}, {0, 5000, STEP_ADD, 20, 0});
	socket_of(1, 1);
	STEPS(1, 0, {0, 1000, STEP_ADD, 200, 0}, {0, 2000, STEP_READ, 4, 0});
	socket_of(1, 1);
	STEPS(1, 0, {0, 1000, STEP_WRITE, 200, 0});
}

static void copies_within_a_socket(void **state)
{
	(void)state;
	socket_of(4, 1);
	STEPS(3, 0, {0, 1000, STEP_WRITE, 200, 0},
	      /* modified by the other core; then there is a clean copy in the socket */
	      {1, 2000, STEP_READ, 90, 0}, {2, 3000, STEP_READ, 40, 0}, {0, 4000, STEP_READ, 4, 0},
	      /* takes two copies away; then one; then none is left elsewhere */
	      {0, 5000, STEP_WRITE, 140, 0}, {1, 6000, STEP_ADD, 140, 0}, {1, 7000, STEP_READ, 4, 0},
	      {2, 8000, STEP_READ, 90, 0}, {1, 9000, STEP_READ, 4, 0}, {1, 10000, STEP_ADD, 140, 0},
	      {1, 11000, STEP_ADD, 20, 0});
	/* A line that was read first is owned, unmodified: the next reader still gets it from that core. */
	socket_of(2, 1);
	STEPS(2, 0, {0, 1000, STEP_READ, 200, 0}, {1, 2000, STEP_READ, 90, 0}, {0, 3000, STEP_READ, 4, 0});
}

/* Of two requests the second comes while the line is busy, and is served when it no longer is. */
static void local_occupancies(void **state)
{
	(void)state;
	socket_of(4, 1);
	/* read: busy for 30 */
	STEPS(3, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 90, 0},
	      {2, 2010, STEP_WRITE, 20 + 140, 0});
	/* write: busy for 70 */
	socket_of(4, 1);
	STEPS(3, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 140, 0},
	      {2, 2010, STEP_WRITE, 60 + 140, 0});
	/* read from memory: busy for 30; the write is long enough to end after the fill of the read */
	socket_of(4, 1);
	fixture_machine.value[VSMP_LOCAL_WRITE_LATENCY] = 500;
	STEPS(2, 0, {0, 1000, STEP_READ, 200, 0}, {1, 1010, STEP_WRITE, 20 + 500, 0});
	/* clean in the socket: busy for 30; and who queues for such a line has the longer way */
	socket_of(4, 1);
	STEPS(4, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 90, 0}, {2, 3000, STEP_READ, 40, 0},
	      {3, 3010, STEP_READ, 20 + 90, 0});
	/* a request at the very end of it need not wait */
	socket_of(4, 1);
	STEPS(3, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 90, 0},
	      {2, 2030, STEP_WRITE, 140, 0});
	socket_of(4, 1);
	STEPS(4, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 90, 0}, {2, 3000, STEP_READ, 40, 0},
	      {3, 3030, STEP_READ, 40, 0});
}

/* Who is served after a write gets the line a cycle after the writer at the earliest. */
static void nobody_overtakes_a_write(void **state)
{
	(void)state;
	socket_of(4, 1);
	fixture_machine.value[VSMP_LOCAL_READ_LATENCY] = 50;
	/* the write is done at 2140; the read is granted at 2070 and would be there at 2120 */
	STEPS(3, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 140, 0},
	      {2, 2010, STEP_READ, 131, 0});
}

/* Readers of one socket that wait together are served one after the other, and keep the line busy so. */
static void riders_keep_the_line_busy(void **state)
{
	(void)state;
	for (int merge = 0; merge <= 1; merge++) {
		socket_of(5, 1);
		fixture_machine.merge_reads = merge;
		if (merge)
			/* granted at 2070; the second and third get it 30 and 60 later; busy until 2070 + 3 x
			 * 30 */
			STEPS(5, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 140, 0},
			      {2, 2001, STEP_READ, 69 + 90, 0}, {3, 2002, STEP_READ, 68 + 90 + 30, 0},
			      {4, 2003, STEP_READ, 67 + 90 + 60, 0}, {0, 2004, STEP_WRITE, 66 + 90 + 140, 0});
		else
			/* granted at 2070, 2100 and 2130, the later two from a copy that others want too */
			STEPS(5, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 140, 0},
			      {2, 2001, STEP_READ, 69 + 90, 0}, {3, 2002, STEP_READ, 98 + 90, 0},
			      {4, 2003, STEP_READ, 127 + 90, 0}, {0, 2004, STEP_WRITE, 156 + 140, 0});
	}
}

static void threads_of_a_core(void **state)
{
	(void)state;
	/* CPUs 0 and 1 share a core; what one has, the other has */
	socket_of(1, 2);
	fixture_machine.value[VSMP_SMT_SHARE] = 1.5;
	fixture_machine.value[VSMP_FAULT_EXCEPTION] = 2;
	STEPS(2, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2001, STEP_READ, 6, 0}, {1, 3000, STEP_ADD, 30, 0},
	      {0, 4002, STEP_WRITE, 6, 0}, {0, 5001, STEP_FAULT, 3, 0});
	/* alone on its core, a thread has all of it, though it could have a sibling */
	socket_of(2, 2);
	fixture_machine.value[VSMP_SMT_SHARE] = 1.5;
	STEPS(2, 0, {0, 1000, STEP_WRITE, 200, 0}, {0, 2000, STEP_WRITE, 4, 0}, {0, 3000, STEP_ADD, 20, 0},
	      {1, 4000, STEP_WRITE, 140, 0});
	/* of three CPUs on two cores only the two that meet are slower */
	socket_of(2, 2);
	fixture_machine.value[VSMP_SMT_SHARE] = 2;
	STEPS(3, 0, {1, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_WRITE, 4, 0}, {2, 3000, STEP_WRITE, 140, 0},
	      {2, 4000, STEP_WRITE, 8, 0}, {0, 5000, STEP_ADD, 40, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_and_hits),           cmocka_unit_test(copies_within_a_socket),
	    cmocka_unit_test(local_occupancies),         cmocka_unit_test(nobody_overtakes_a_write),
	    cmocka_unit_test(riders_keep_the_line_busy), cmocka_unit_test(threads_of_a_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
