/* SPDX-License-Identifier: MIT */
#include "vsmp/machine.h"

#include <errno.h>
#include <stdlib.h>

/* The parameters of blades count only on a machine that has them; there they must not be 0. */
static bool is_blade_parameter(int parameter)
{
	return parameter >= VSMP_BLADE_READ_LATENCY && parameter <= VSMP_BLADE_INVALIDATE;
}

static int check_shape(const struct vsmp_machine *machine, struct message *why)
{
	bool seen[VSMP_SOCKETS_MAX] = {false};

	if (machine->sockets < 1 || machine->sockets > VSMP_SOCKETS_MAX)
		return message_set(why, -EINVAL, "a machine has 1 to %u sockets, not %u", VSMP_SOCKETS_MAX,
				   machine->sockets);
	if (machine->cores_per_socket < 1 || machine->threads_per_core < 1 ||
	    machine->cores_per_socket > VSMP_CPUS_MAX || machine->threads_per_core > 8)
		return message_set(why, -EINVAL, "a socket has 1 to %u cores and a core 1 to 8 threads",
				   VSMP_CPUS_MAX);
	if (vsmp_machine_cpus(machine) > VSMP_CPUS_MAX)
		return message_set(why, -EINVAL, "sockets x cores x threads is %u, more than %u CPUs",
				   vsmp_machine_cpus(machine), VSMP_CPUS_MAX);
	if (machine->sockets_per_blade && machine->sockets % machine->sockets_per_blade)
		return message_set(why, -EINVAL, "%u sockets do not fill blades of %u", machine->sockets,
				   machine->sockets_per_blade);
	for (unsigned i = 0; i < machine->sockets; i++) {
		unsigned socket = machine->socket_order[i];

		if (socket >= machine->sockets || seen[socket])
			return message_set(why, -EINVAL, "socket_order must name each of the %u sockets once",
					   machine->sockets);
		seen[socket] = true;
	}
	for (unsigned a = 0; a < machine->sockets; a++)
		for (unsigned b = 0; b < machine->sockets; b++)
			if (machine->hops[a][b] != machine->hops[b][a] || !machine->hops[a][b] != (a == b))
				return message_set(
				    why, -EINVAL,
				    "hops between sockets %u and %u: must be the same both ways, "
				    "0 within a socket and at least 1 beyond",
				    a, b);
	return 0;
}

int vsmp_machine_check(const struct vsmp_machine *machine, struct message *why)
{
	int error = check_shape(machine, why);

	if (error)
		return error;
	if (!(machine->gigahertz >= 0.1 && machine->gigahertz <= 100))
		return message_set(why, -EINVAL, "gigahertz is 0.1 to 100, not %g", machine->gigahertz);
	for (int i = 0; i < VSMP_PARAMETER_COUNT; i++) {
		const struct vsmp_parameter_info *info = &vsmp_parameter_info[i];

		if (is_blade_parameter(i) && !machine->sockets_per_blade)
			continue;
		if (!(machine->value[i] >= info->minimum && machine->value[i] <= info->maximum))
			return message_set(why, -EINVAL, "%s is %g to %g, not %g", info->name, info->minimum,
					   info->maximum, machine->value[i]);
	}
	return 0;
}

/* Seats CPUs thread by thread: core after core in a socket's turn, at most `bound` in a socket. */
static unsigned seat(const struct vsmp_machine *machine, const struct vsmp_placement *placement,
		     unsigned cpus, struct vsmp_seat *seats)
{
	unsigned used[VSMP_SOCKETS_MAX] = {0};
	unsigned cores = machine->cores_per_socket, threads = machine->threads_per_core;
	unsigned bound = placement->cpus_per_socket ? placement->cpus_per_socket : cores * threads;
	unsigned total = machine->sockets * cores * threads;
	unsigned count = 0;

	for (unsigned i = 0; i < total && count < cpus; i++) {
		unsigned socket, core, thread;

		switch (placement->kind) {
		case VSMP_SPREAD:
			socket = i % machine->sockets;
			core = i / machine->sockets % cores;
			thread = i / machine->sockets / cores;
			break;
		case VSMP_COMPACT:
			socket = i / (cores * threads);
			core = i % (cores * threads) / threads;
			thread = i % threads;
			break;
		default:
			thread = i / (machine->sockets * cores);
			socket = i / cores % machine->sockets;
			core = i % cores;
			break;
		}
		socket = machine->socket_order[socket];
		if (used[socket] == bound)
			continue;
		used[socket]++;
		seats[count++] = (struct vsmp_seat){.socket = (uint16_t)socket,
						    .core = (uint16_t)(socket * cores + core),
						    .thread = (uint16_t)thread};
	}
	return count;
}

int vsmp_place(const struct vsmp_machine *machine, const struct vsmp_placement *placement, unsigned cpus,
	       struct vsmp_seat *seats, struct message *why)
{
	unsigned count;

	if (cpus < 1 || cpus > vsmp_machine_cpus(machine))
		return message_set(why, -EINVAL, "machine %s has 1 to %u CPUs, not %u", machine->name,
				   vsmp_machine_cpus(machine), cpus);
	count = seat(machine, placement, cpus, seats);
	if (count < cpus)
		return message_set(why, -EINVAL, "with at most %u CPUs a socket, machine %s seats %u, not %u",
				   placement->cpus_per_socket, machine->name, count, cpus);
	return 0;
}
