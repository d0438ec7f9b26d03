/* SPDX-License-Identifier: MIT */
/*
 * CPUs that spin. A real one reads a word over and over from its own cache; nothing happens until somebody
 * writes to the line. So the machine parks it on the line and lets it read again when the line was taken
 * away. The time is the same, and so are the transfers; the turns of the loop are not executed.
 */
#ifndef VSMP_SPINNING_H
#define VSMP_SPINNING_H

#include "vsmp/core.h"

/*
 * The line of a watch is written to at `now`: its CPU asks for the line again. Watches are numbered from 1
 * on, WATCH_MAX of each CPU.
 */
void spinning_wake(uint32_t watch, uint64_t now);

/* The line that `leader` and the riders behind it asked for has come: each looks at its condition, and runs,
 * or parks again, or asks again where the line is gone already. Called by the schedule. */
void spinning_look(struct cpu *leader);

/*
 * No event is left. A CPU that is parked by port_cpu_relax() may turn only so many times and then do
 * something else: lets all of these take one more turn. Returns false when there are none.
 */
bool spinning_rescue(void);

/*
 * [first, end) is freed: a CPU that was parked by port_cpu_relax() in a loop that has read there takes
 * another turn. One that waits for a word there must not be.
 */
void spinning_forget(const struct line *first, const struct line *end);

/* Looks at the word that `cpu` waits for, into cpu->spin.seen; true when it need not wait any more. */
bool spinning_condition(struct cpu *cpu);

/* port_spin_until_*(): the current CPU waits until (*word & mask) == value; returns *word. */
uint64_t spinning_until(const void *word, unsigned bytes, uint64_t mask, uint64_t value);

/* port_cpu_relax(). */
void spinning_relax(void);

#endif
