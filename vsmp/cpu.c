/* SPDX-License-Identifier: MIT */
/*
 * The small part of port/: which CPU, which node, and the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "port/cpu.h"
#include "port/panic.h"
#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/observe/observe.h"

struct machine *machine;
struct cpu *current, *accessor;
unsigned current_id;

unsigned vsmp_cpu(void)
{
	return current_id;
}

unsigned vsmp_cpu_count(void)
{
	return machine->cpu_count;
}

/* A node is a socket. */
unsigned vsmp_node_count(void)
{
	return machine->shape.sockets;
}

unsigned vsmp_cpu_node(unsigned cpu)
{
	return machine->cpus[cpu].socket;
}

unsigned vsmp_node_distance(unsigned a, unsigned b)
{
	return machine->shape.hops[a][b];
}

_Noreturn void vsmp_panic(const char *file, int line, const char *text)
{
	if (exploring && (current || explore_alone)) {
		char what[256];

		snprintf(what, sizeof(what), "%s:%d: broken invariant: %s", file, line, text);
		explore_fail(EXPLORE_ASSERTION, NULL, what);
	}
	fprintf(stderr, "softfault: %s:%d: broken invariant: %s\n", file, line, text);
	if (current) {
		fprintf(stderr, "on simulated CPU %u, at cycle %llu:\n", current->id,
			(unsigned long long)current->clock);
		observe_print_stack(current->id, stderr, "    ");
	}
	abort();
}
