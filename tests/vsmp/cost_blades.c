/* SPDX-License-Identifier: MIT */
/*
 * Costs between blades: through the directory of the home's blade.
 *
 * Sockets 01 | 23 | 45, of two cores: 1 hop inside a blade, 2 between the first two blades, 3 to the third,
 * as if it were in another group. The line's home is socket 0. CPUs 2s and 2s + 1 sit in socket s.
 */
#include "tests/vsmp/steps.h"

enum { S0 = 0, S1 = 2, S2 = 4, S3 = 6, S4 = 8, S5 = 10 };

static void three_blades(void)
{
	static const uint8_t hops[3][3] = {{1, 2, 3}, {2, 1, 3}, {3, 3, 1}};

	fixture_shape(6, 2, 1);
	steps_costs();
	fixture_machine.sockets_per_blade = 2;
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = 0; b < a; b++)
			steps_hops(a, b, hops[a / 2][b / 2]);
	fixture_machine.value[VSMP_BLADE_READ_LATENCY] = 900;
	fixture_machine.value[VSMP_BLADE_WRITE_LATENCY] = 700;
	fixture_machine.value[VSMP_BLADE_LATENCY_HOP] = 37;
	fixture_machine.value[VSMP_BLADE_DIRTY_OCCUPANCY] = 1500;
	fixture_machine.value[VSMP_BLADE_CLEAN_OCCUPANCY] = 1100;
	fixture_machine.value[VSMP_BLADE_INVALIDATE] = 83;
}

static void memory_of_another_blade(void **state)
{
	(void)state;
	three_blades();
	STEPS(12, 0, {S1, 1000, STEP_READ, 200 + 100, 0});
	three_blades();
	STEPS(12, 0, {S2, 1000, STEP_READ, 900, 0});
	three_blades();
	STEPS(12, 0, {S4, 1000, STEP_WRITE, 900 + 37, 0});
}

static void inside_a_blade(void **state)
{
	(void)state;
	/* as on a machine without blades */
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S1, 2000, STEP_READ, 50 + 400, 0},
	      {S1 + 1, 3000, STEP_READ, 40, 0}, {S1, 4000, STEP_WRITE, 50 + 300 + 5, 0},
	      {S1 + 1, 5000, STEP_WRITE, 140, 0});
	/* also on a blade that is not the home's, as long as nobody leaves the socket */
	three_blades();
	STEPS(12, 0, {S2, 1000, STEP_WRITE, 900, 0}, {S2 + 1, 2000, STEP_READ, 90, 0});
	/* but between two sockets of it the home is asked */
	three_blades();
	STEPS(12, 0, {S2, 1000, STEP_WRITE, 900, 0}, {S3, 4000, STEP_READ, 57 + 900, 0});
}

static void between_blades(void **state)
{
	(void)state;
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 2000, STEP_READ, 57 + 900, 0},
	      /* the home's blade has a copy: for a read in it nobody else is asked */
	      {S1, 6000, STEP_READ, 50 + 400, 0}, {S4, 9000, STEP_READ, 64 + 900 + 37, 0});
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 2000, STEP_WRITE, 57 + 700, 0},
	      /* the way is as long as its longest leg */
	      {S4, 6000, STEP_WRITE, 64 + 700 + 37, 0}, {S2, 9000, STEP_ADD, 57 + 700 + 37, 0});
	/* at home, but the holder is on another blade: through the directory without travel */
	three_blades();
	STEPS(12, 0, {S2, 1000, STEP_WRITE, 900, 0}, {S0, 4000, STEP_READ, 900, 0});
	three_blades();
	STEPS(12, 0, {S4, 1000, STEP_WRITE, 937, 0}, {S1, 4000, STEP_READ, 50 + 900 + 37, 0});
	three_blades();
	STEPS(12, 0, {S4, 1000, STEP_WRITE, 937, 0}, {S0, 4000, STEP_WRITE, 700 + 37, 0});
}

/* The second request waits until the directory has done with the first. */
static void occupancies(void **state)
{
	(void)state;
	/* read of a modified line: arrives at 2057, busy for 1500. Then one other blade shares it. */
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 2000, STEP_READ, 957, 0},
	      {S0, 2100, STEP_WRITE, 3557 - 2100 + 700, 0});
	/* read of a clean line: arrives at 5064, busy for 1100 */
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 2000, STEP_READ, 957, 0},
	      {S4, 5000, STEP_READ, 1001, 0}, {S0, 5100, STEP_WRITE, 6164 - 5100 + 700 + 37, 0});
	/* write: 1500 and 83 for each other blade that shares it; here 1 */
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 2000, STEP_WRITE, 757, 0},
	      {S0, 2100, STEP_WRITE, 2057 + 1583 - 2100 + 700, 0});
	/* 2, one of them with copies in both its sockets */
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 3000, STEP_READ, 957, 0},
	      {S3, 6000, STEP_READ, 957, 0}, {S4, 9000, STEP_READ, 1001, 0},
	      {S0, 12000, STEP_WRITE, 700 + 37, 0},
	      {S1, 12100, STEP_WRITE, 12000 + 1500 + 2 * 83 - 12100 + 300 + 5, 0});
	/* 2, on either side of the writer's own */
	three_blades();
	STEPS(12, 0, {S0, 1000, STEP_WRITE, 200, 0}, {S2, 3000, STEP_READ, 957, 0},
	      {S3, 6000, STEP_READ, 957, 0}, {S4, 9000, STEP_READ, 1001, 0},
	      {S2, 12000, STEP_WRITE, 57 + 700 + 37, 0},
	      {S3, 12100, STEP_WRITE, 12057 + 1500 + 2 * 83 - 12100 + 700, 0});
	/* none: all other copies are on the writer's own blade */
	three_blades();
	STEPS(12, 0, {S2, 1000, STEP_WRITE, 900, 0}, {S3, 4000, STEP_WRITE, 57 + 700, 0},
	      {S2, 4100, STEP_WRITE, 4057 + 1500 - 4100 + 700, 0});
	/* read from the memory of another blade: busy for 30 */
	three_blades();
	fixture_machine.value[VSMP_LOCAL_WRITE_LATENCY] = 1000;
	STEPS(12, 0, {S2, 1000, STEP_READ, 900, 0}, {S2 + 1, 1010, STEP_WRITE, 20 + 1000, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_of_another_blade),
	    cmocka_unit_test(inside_a_blade),
	    cmocka_unit_test(between_blades),
	    cmocka_unit_test(occupancies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
