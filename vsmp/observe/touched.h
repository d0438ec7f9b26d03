/* SPDX-License-Identifier: MIT */
/*
 * What happened to one cache line that more than one CPU or scope touched: enough of it to tell, at the end
 * of the line's life, which pairs of scopes conflict and on which bytes.
 *
 * Only as many CPUs are remembered for a byte as matter: two different ones that wrote it, and two that
 * touched it at all, in each scope. Whatever a third one did, a pair of two different CPUs exists already. So
 * a line that a thousand CPUs use costs hardly more than one that two use, and a byte that two CPUs have used
 * costs nothing any more.
 */
#ifndef VSMP_OBSERVE_TOUCHED_H
#define VSMP_OBSERVE_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vsmp/observe/naming.h"

/* Bytes of a line: bit n is byte n. */
typedef uint64_t line_bytes;

static inline line_bytes line_bytes_of(unsigned offset, unsigned bytes)
{
	return (bytes >= 64 ? UINT64_MAX : (1ull << bytes) - 1) << offset;
}

/* What one CPU did in one scope. */
struct touched_cpu {
	uint16_t cpu;
	line_bytes touched, written; /* written is part of touched */
};

/* What was done in one scope. */
struct touched_scope {
	uint16_t scope;
	line_bytes touched_twice, written_twice; /* by two different CPUs */
	struct touched_cpu *cpus;
	size_t count, capacity;
};

/* How often a fill for these bytes came from the other scope of a pair, or went to it. */
struct touched_move {
	uint8_t offset, bytes;
	uint64_t transfers;
};

/* Two scopes that met on the line while one thing stood there. */
struct touched_pair {
	struct naming_place place;
	uint16_t scope, other_scope; /* scope <= other_scope */
	line_bytes same;             /* bytes that one CPU wrote and another touched */
	line_bytes near;             /* all bytes of a CPU that wrote on the line and of those it disturbed */
	struct touched_move *moves;
	size_t move_count, move_capacity;
};

struct touched_by {
	bool known;
	uint16_t cpu, scope;
};

struct touched_line {
	bool place_known; /* of the present life */
	struct naming_place place;
	struct touched_scope *scopes;
	size_t scope_count, scope_capacity;
	struct touched_by writer;               /* the last one */
	struct touched_by reader, other_reader; /* the last two different CPUs that read since */
	struct touched_pair *pairs;             /* of all lives; the bytes of the present one come last */
	size_t pair_count, pair_capacity;
};

/* Makes of a zeroed line one that a single CPU has used in a single scope. Returns 0 or -ENOMEM. */
int touched_begin(struct touched_line *line, unsigned cpu, uint16_t scope, line_bytes touched,
		  line_bytes written);

/* Notes one access. Returns 0 or -ENOMEM. */
int touched_access(struct touched_line *line, unsigned cpu, uint16_t scope, unsigned offset, unsigned bytes,
		   bool write, bool transferred);

/* Adds to the line's pairs what the present life has shown so far. May be called again. Returns 0 or -ENOMEM.
 */
int touched_judge(struct touched_line *line);

/* Ends the present life. Returns 0, or -ENOMEM when its conflicts could not be kept. */
int touched_renew(struct touched_line *line);

/* Frees what the line points to. */
void touched_free(struct touched_line *line);

#endif
