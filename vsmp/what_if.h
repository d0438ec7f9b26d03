/* SPDX-License-Identifier: MIT */
/*
 * What-if: the time that CPUs spend in a function, and in what it calls, costs less by a percentage. That is
 * all that the CPU does itself there: instructions, hits, the latency of its transfers and how long they keep
 * a line busy for others, pages cleared, interrupts sent. What it waits for others is not scaled: that
 * becomes what the rest of the run makes of it. In a function called by another such one, both percentages
 * count.
 *
 * A CPU's clock runs on as always between two points at which somebody else could see it; there, the time
 * since the last such point is scaled. Fractions of a cycle are carried on, so nothing is lost to rounding.
 */
#ifndef VSMP_WHAT_IF_H
#define VSMP_WHAT_IF_H

#include "vsmp/core.h"
#include "vsmp/speedup.h"

#define WHAT_IF_ONE 1000000u /* the factor of time that changes nothing */

/* Takes a copy of the speedups, for the machine that is being made. Returns 0, or -ENOENT with a message when
 * the program has no function of that name. */
int what_if_open(const struct vsmp_speedup *speedups, unsigned count, struct message *why);
void what_if_close(void);

/* Which of the speedups' functions were entered, by bits of their numbers. */
unsigned what_if_entered(void);

/* The CPU enters or leaves a function; its clock is settled. Called only when there are speedups. */
void what_if_enter(struct cpu *cpu, const void *function);
void what_if_exit(struct cpu *cpu, const void *function);

void what_if_settle_now(struct cpu *cpu);

/* Makes the CPU's clock true. Whoever lets others see it, or tells it to an observer, calls this first. */
static inline void what_if_settle(struct cpu *cpu)
{
	if (unlikely(cpu->in_speedup))
		what_if_settle_now(cpu);
}

/* The clock is true as it is: what was added since it was last settled is not to be scaled. */
static inline void what_if_settled(struct cpu *cpu)
{
	if (unlikely(cpu->in_speedup))
		cpu->what_if.settled_at = cpu->clock;
}

/* What `cycles` are on this CPU, where it is now. */
static inline uint32_t what_if_cycles(const struct cpu *cpu, uint32_t cycles)
{
	if (unlikely(cpu->in_speedup))
		return (uint32_t)(cycles * (uint64_t)cpu->what_if.factor / WHAT_IF_ONE);
	return cycles;
}

#endif
