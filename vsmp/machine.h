/* SPDX-License-Identifier: MIT */
/*
 * A machine to simulate: its shape and its costs. Plain data; lab/ reads it from machines/NAME.yaml.
 */
#ifndef VSMP_MACHINE_H
#define VSMP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "vsmp/parameters.h"

#define VSMP_CPUS_MAX    1024u
#define VSMP_SOCKETS_MAX 256u

/* Who is served next at a line for which several requests wait. */
enum vsmp_service { VSMP_SERVICE_RANDOM, VSMP_SERVICE_FIFO };

/* Whose distances a transfer's hops add up. */
enum vsmp_route {
	VSMP_ROUTE_HOME, /* the farthest of owner and requester from the line's home */
	VSMP_ROUTE_ROUND /* home to owner, owner to requester, requester to home */
};

struct vsmp_machine {
	char name[64];
	double gigahertz;
	unsigned sockets, cores_per_socket, threads_per_core;
	unsigned sockets_per_blade; /* 0: the machine has no blades, and the blade_ parameters do not count */
	enum vsmp_service service;
	enum vsmp_route route;
	bool merge_reads; /* reads of one socket that wait for a line go to its home as one request */
	uint16_t socket_order[VSMP_SOCKETS_MAX];          /* which socket threads fill first, second, ... */
	uint8_t hops[VSMP_SOCKETS_MAX][VSMP_SOCKETS_MAX]; /* hops[a][a] is 0, symmetric */
	double value[VSMP_PARAMETER_COUNT];               /* in the parameter's unit */
};

/* How many CPUs the machine has. */
static inline unsigned vsmp_machine_cpus(const struct vsmp_machine *machine)
{
	return machine->sockets * machine->cores_per_socket * machine->threads_per_core;
}

/* Where the CPUs of a run sit, when there are fewer of them than the machine has. */
enum vsmp_placement_kind {
	VSMP_FILL,   /* a socket's cores, then the next socket's; second threads of cores come last */
	VSMP_SPREAD, /* one core of each socket in turn; second threads of cores come last */
	VSMP_COMPACT /* a socket's cores with all their threads, then the next socket's */
};

struct vsmp_placement {
	enum vsmp_placement_kind kind;
	unsigned cpus_per_socket; /* at most this many in one socket; 0: no such bound */
};

/* Where one simulated CPU sits. */
struct vsmp_seat {
	uint16_t socket;
	uint16_t core;   /* of the whole machine */
	uint16_t thread; /* of the core */
};

/*
 * Seats `cpus` CPUs (1 to VSMP_CPUS_MAX) on `machine`; seats[cpu] is written for each.
 * Returns 0, or -EINVAL with a message when the machine, so placed, has too few seats.
 */
int vsmp_place(const struct vsmp_machine *machine, const struct vsmp_placement *placement, unsigned cpus,
	       struct vsmp_seat *seats, struct message *why);

/* Returns 0, or -EINVAL with a message that says which part of `machine` cannot be. */
int vsmp_machine_check(const struct vsmp_machine *machine, struct message *why);

#endif
