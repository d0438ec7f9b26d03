/* SPDX-License-Identifier: MIT */
/*
 * What it costs to get a cache line. A line has a home; requests that find it busy queue there, and the
 * machine's order of service picks the next. Latency is what one requester waits, occupancy how long the line
 * is busy for all others: the two differ, and under contention occupancy rules.
 *
 * The model is the one that the data of machines/README.md calibrate; what each
 * parameter means is in docs/FIDELITY.md.
 */
#ifndef VSMP_COHERENCE_H
#define VSMP_COHERENCE_H

#include "vsmp/core.h"
#include "vsmp/line.h"

/* Returns 0 or -ENOMEM. */
int coherence_open(void);
void coherence_close(void);

/*
 * Gets `line` for `cpu`, the current CPU, which does not hold it as `kind` needs. Returns when the line has
 * come, with the clock at that time and the CPU next in turn: the access is to be made now, whatever has
 * become of the line since.
 */
void coherence_fetch(struct cpu *cpu, struct line *line, enum access_kind kind);

/*
 * The same for a CPU that spins: asks at `clock` for the line of cpu->wanted to be read, and returns at once.
 * The schedule calls spinning_look() when it has come.
 */
void coherence_ask(struct cpu *cpu, uint64_t clock);

/* The line's content changes at `now`: every CPU that spins on it looks again. */
void coherence_wake_watchers(struct line *line, uint64_t now);

/* The line queue `queue` may serve its next request at `now`. Called by the schedule. */
void coherence_serve(unsigned queue, uint64_t now);

#endif
