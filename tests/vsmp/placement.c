/* SPDX-License-Identifier: MIT */
/*
 * Where the CPUs of a run sit: every kind of placement, with and without a bound for each socket, in the
 * order of sockets that the machine names.
 */
#include <errno.h>

#include "tests/vsmp/fixture.h"

#include <stdio.h>
#include <string.h>

/* Three sockets of two cores with two threads, filled in the order 1, 0, 2. Socket s has cores 2s and 2s + 1.
 */
static void three_sockets(void)
{
	fixture_shape(3, 2, 2);
	fixture_machine.socket_order[0] = 1;
	fixture_machine.socket_order[1] = 0;
}

/* A seat is written "core.thread"; the socket follows from the core. */
static void expect(enum vsmp_placement_kind kind, unsigned bound, const char *wanted)
{
	const struct vsmp_placement placement = {kind, bound};
	struct vsmp_seat seats[VSMP_CPUS_MAX];
	struct message why = {""};
	char text[256];
	unsigned cpus = 1;

	three_sockets();
	for (const char *at = wanted; (at = strchr(at, ' ')); at++)
		cpus++;
	/* The first few sit where they would if there were more. */
	for (unsigned count = 1; count <= cpus; count++) {
		size_t used = 0;

		if (vsmp_place(&fixture_machine, &placement, count, seats, &why))
			fail_msg("%s", why.text);
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(seats[i].socket, seats[i].core / 2);
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u.%u", i ? " " : "",
						 seats[i].core, seats[i].thread);
		}
		if (strncmp(text, wanted, used) || (count == cpus && wanted[used]))
			fail_msg("%u CPUs sit on %s, not on %s", count, text, wanted);
	}
	/* There is no seat more. */
	assert_int_equal(vsmp_place(&fixture_machine, &placement, cpus + 1, seats, &why), -EINVAL);
}

static void fill(void **state)
{
	(void)state;
	expect(VSMP_FILL, 0, "2.0 3.0 0.0 1.0 4.0 5.0 2.1 3.1 0.1 1.1 4.1 5.1");
	expect(VSMP_FILL, 3, "2.0 3.0 0.0 1.0 4.0 5.0 2.1 0.1 4.1");
	expect(VSMP_FILL, 1, "2.0 0.0 4.0");
	expect(VSMP_FILL, 99, "2.0 3.0 0.0 1.0 4.0 5.0 2.1 3.1 0.1 1.1 4.1 5.1");
}

static void spread(void **state)
{
	(void)state;
	expect(VSMP_SPREAD, 0, "2.0 0.0 4.0 3.0 1.0 5.0 2.1 0.1 4.1 3.1 1.1 5.1");
	expect(VSMP_SPREAD, 3, "2.0 0.0 4.0 3.0 1.0 5.0 2.1 0.1 4.1");
	expect(VSMP_SPREAD, 1, "2.0 0.0 4.0");
}

static void compact(void **state)
{
	(void)state;
	expect(VSMP_COMPACT, 0, "2.0 2.1 3.0 3.1 0.0 0.1 1.0 1.1 4.0 4.1 5.0 5.1");
	expect(VSMP_COMPACT, 3, "2.0 2.1 3.0 0.0 0.1 1.0 4.0 4.1 5.0");
	expect(VSMP_COMPACT, 1, "2.0 0.0 4.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fill),
	    cmocka_unit_test(spread),
	    cmocka_unit_test(compact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
