/* SPDX-License-Identifier: MIT */
/*
 * How far a line's transfer goes, and so what it costs: from the line's state, its home and the requester.
 */
#ifndef VSMP_DISTANCE_H
#define VSMP_DISTANCE_H

#include "vsmp/core.h"
#include "vsmp/line.h"

enum transfer_class {
	TRANSFER_NONE,   /* the core holds the line as it needs it */
	TRANSFER_MEMORY, /* nobody holds it */
	TRANSFER_LLC,    /* a clean line from the socket's last-level cache */
	TRANSFER_LOCAL,  /* all who hold it are in the socket */
	TRANSFER_REMOTE, /* through the home socket */
	TRANSFER_BLADE   /* through the directory of another blade */
};

struct transfer {
	enum transfer_class class;
	uint32_t latency_cycles;
	uint32_t occupancy_cycles;
	uint32_t travel_cycles; /* from the requester to where requests queue */
	unsigned copies;        /* other cores that hold the line */
};

/* What it would take now to give `line` to `cpu`. */
struct transfer transfer_cost(const struct cpu *cpu, struct line *line, enum access_kind kind);

static inline unsigned core_socket(unsigned core)
{
	return core / machine->shape.cores_per_socket;
}

static inline unsigned socket_blade(unsigned socket)
{
	return machine->shape.sockets_per_blade ? socket / machine->shape.sockets_per_blade : 0;
}

#endif
