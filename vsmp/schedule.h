/* SPDX-License-Identifier: MIT */
/*
 * Who runs next: always the event with the smallest virtual time, ties by number. An event is a CPU that goes
 * on, or a line that can serve its next request.
 */
#ifndef VSMP_SCHEDULE_H
#define VSMP_SCHEDULE_H

#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/what_if.h"

/* Events are numbered: CPUs first, then line queues. A key orders by time, then by number. */
#define EVENT_BITS   16
#define EVENT_QUEUES VSMP_CPUS_MAX

struct schedule {
	unsigned count;
	uint64_t keys[1 + VSMP_CPUS_MAX * 2]; /* a heap of four-way nodes, keys[0] the smallest */
};

extern struct schedule schedule;

/* How far a CPU's plain hits may run ahead of the next event before it gives way, in cycles. */
#define RUN_AHEAD_CYCLES 256

static inline uint64_t event_key(uint64_t time, unsigned number)
{
	return time << EVENT_BITS | number;
}

/* Schedules the event `number` at `time`; it is not scheduled yet. */
void schedule_event(uint64_t time, unsigned number);

/* Schedules `cpu` at its own clock. */
static inline void schedule_cpu(struct cpu *cpu)
{
	cpu->state = CPU_READY;
	if (unlikely(exploring))
		explore_ready(cpu);
	else
		schedule_event(cpu->clock, cpu->id);
}

/*
 * Runs others until the calling CPU is next again. It must be scheduled, or something must schedule it. The
 * caller is the current CPU; on return it is so again.
 */
void schedule_others(void);

/* Schedules the calling CPU, before which an event stands, and runs others until it is next again. */
void schedule_yield(struct cpu *self);

/* True when an event stands before the current CPU. */
static inline bool schedule_behind(const struct cpu *cpu)
{
	return schedule.count && schedule.keys[0] < event_key(cpu->clock, cpu->id);
}

/* Gives way until the calling CPU has the smallest clock. Every atomic access and every miss begins so. */
static inline void schedule_turn(struct cpu *cpu)
{
	what_if_settle(cpu);
	/* An interrupt can come while others have their turn: it is paid for before this one's. */
	for (;;) {
		if (unlikely(cpu->stolen_cycles)) {
			cpu->clock += cpu->stolen_cycles;
			cpu->stolen_cycles = 0;
			what_if_settled(cpu);
		}
		if (!schedule_behind(cpu))
			return;
		schedule_yield(cpu);
	}
}

/*
 * Runs every CPU from its entry until all bodies have returned (0) or no event is left (-EDEADLK). While the
 * machine explores, -EDEADLK also for every other failure. Called from outside any CPU.
 */
int schedule_run(void);

/* Ends the current CPU's body; never returns. */
_Noreturn void schedule_exit(void);

void schedule_reset(void);

#endif
