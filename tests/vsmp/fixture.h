/* SPDX-License-Identifier: MIT */
/*
 * A machine for tests: the shape that a test asks for, with costs that are easy to add up in one's head.
 */
#ifndef TESTS_VSMP_FIXTURE_H
#define TESTS_VSMP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "vsmp/vsmp.h"

static struct vsmp_machine fixture_machine;

static inline void fixture_shape(unsigned sockets, unsigned cores, unsigned threads)
{
	struct vsmp_machine *machine = &fixture_machine;

	*machine = (struct vsmp_machine){.name = "fixture",
					 .gigahertz = 2,
					 .sockets = sockets,
					 .cores_per_socket = cores,
					 .threads_per_core = threads,
					 .service = VSMP_SERVICE_RANDOM,
					 .route = VSMP_ROUTE_HOME,
					 .merge_reads = true};
	for (unsigned a = 0; a < sockets; a++) {
		machine->socket_order[a] = (uint16_t)a;
		for (unsigned b = 0; b < sockets; b++)
			machine->hops[a][b] = a != b;
	}
	for (int i = 0; i < VSMP_PARAMETER_COUNT; i++)
		machine->value[i] = vsmp_parameter_info[i].minimum;
	machine->value[VSMP_HIT] = 4;
	machine->value[VSMP_ATOMIC_HIT] = 20;
	machine->value[VSMP_LLC_READ] = 40;
	machine->value[VSMP_MEMORY] = 200;
	machine->value[VSMP_MEMORY_HOP] = 100;
	machine->value[VSMP_LOCAL_READ_LATENCY] = 90;
	machine->value[VSMP_LOCAL_READ_OCCUPANCY] = 40;
	machine->value[VSMP_LOCAL_WRITE_LATENCY] = 140;
	machine->value[VSMP_LOCAL_WRITE_OCCUPANCY] = 90;
	machine->value[VSMP_REMOTE_READ_LATENCY] = 400;
	machine->value[VSMP_REMOTE_WRITE_LATENCY] = 300;
	machine->value[VSMP_REMOTE_DIRTY_OCCUPANCY] = 800;
	machine->value[VSMP_REMOTE_CLEAN_OCCUPANCY] = 600;
	machine->value[VSMP_REMOTE_WRITE_OCCUPANCY] = 500;
	machine->value[VSMP_HOME_WRITE_OCCUPANCY] = 250;
	machine->value[VSMP_TRAVEL] = 50;
	machine->value[VSMP_RELAX] = 10;
	machine->value[VSMP_CLEAR_CORE] = 4;
	machine->value[VSMP_CLEAR_SOCKET] = 8;
	machine->value[VSMP_FAULT_EXCEPTION] = 1000;
	machine->value[VSMP_IPI_SEND] = 100;
	machine->value[VSMP_IPI_HANDLE] = 500;
	machine->value[VSMP_SLEEP] = 1000;
	machine->value[VSMP_WAKE] = 2000;
	machine->value[VSMP_GRACE_PERIOD] = 10000;
}

/* Makes a machine of the shape with `cpus` CPUs that collects everything. */
static inline void fixture_create(unsigned sockets, unsigned cores, unsigned threads, unsigned cpus,
				  uint64_t seed)
{
	struct vsmp_config config = {.machine = &fixture_machine,
				     .cpus = cpus,
				     .seed = seed,
				     .home_socket = -1,
				     .profile = true,
				     .locks = true,
				     .lines = true,
				     .conflicts = true};
	struct message why = {""};

	fixture_shape(sockets, cores, threads);
	if (vsmp_create(&config, &why))
		fail_msg("%s", why.text);
}

/* The profile's row of a function, which must be there. */
static inline const struct vsmp_profile_row *fixture_symbol(const struct vsmp_report *report,
							    const char *name)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (!strcmp(report->profile[i].symbol, name))
			return &report->profile[i];
	fail_msg("no function %s", name);
	return NULL;
}

#endif
