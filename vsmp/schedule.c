/* SPDX-License-Identifier: MIT */
#include "vsmp/schedule.h"

#include <errno.h>

#include "vsmp/coherence.h"
#include "vsmp/spinning.h"
#include "vsmp/window.h"

struct schedule schedule;

#define WAYS 4

static void sift_up(unsigned at, uint64_t key)
{
	while (at) {
		unsigned parent = (at - 1) / WAYS;

		if (schedule.keys[parent] <= key)
			break;
		schedule.keys[at] = schedule.keys[parent];
		at = parent;
	}
	schedule.keys[at] = key;
}

static uint64_t pop(void)
{
	uint64_t top = schedule.keys[0];
	uint64_t key = schedule.keys[--schedule.count];
	unsigned at = 0;

	for (;;) {
		unsigned child = at * WAYS + 1;
		unsigned end = child + WAYS < schedule.count ? child + WAYS : schedule.count;
		unsigned least = child;

		if (child >= schedule.count)
			break;
		while (++child < end)
			if (schedule.keys[child] < schedule.keys[least])
				least = child;
		if (schedule.keys[least] >= key)
			break;
		schedule.keys[at] = schedule.keys[least];
		at = least;
	}
	schedule.keys[at] = key;
	return top;
}

void schedule_reset(void)
{
	schedule.count = 0;
}

void schedule_event(uint64_t time, unsigned number)
{
	sift_up(schedule.count++, event_key(time, number));
	if (current && time + RUN_AHEAD_CYCLES < current->run_ahead_limit)
		current->run_ahead_limit = time + RUN_AHEAD_CYCLES;
}

/* So many turns in a row, with no line changing hands for writing, are taken for a deadlock. */
#define RESCUES_MAX 100000

/* Handles events until one is a CPU whose code must go on, and returns that CPU; NULL when none is left. */
static struct cpu *next_cpu(void)
{
	while (schedule.count || (machine->rescues++ < RESCUES_MAX && spinning_rescue())) {
		uint64_t key = pop();
		unsigned number = key & ((1u << EVENT_BITS) - 1);
		struct cpu *cpu;

		if (number >= EVENT_QUEUES) {
			coherence_serve(number - EVENT_QUEUES, key >> EVENT_BITS);
			continue;
		}
		cpu = &machine->cpus[number];
		if (!cpu->leads_group)
			return cpu;
		spinning_look(cpu);
	}
	return NULL;
}

static void go_on(struct cpu *cpu)
{
	current = accessor = cpu;
	current_id = cpu->id;
	cpu->run_ahead_limit =
	    schedule.count ? (schedule.keys[0] >> EVENT_BITS) + RUN_AHEAD_CYCLES : UINT64_MAX;
}

void schedule_others(void)
{
	struct cpu *self = current;
	struct cpu *next;

	if (unlikely(exploring)) {
		next = explore_next();
		if (next != self)
			fiber_switch(&self->fiber, &next->fiber);
		return;
	}
	current = NULL;
	next = next_cpu();
	if (!next) {
		/* Nobody can ever run again; schedule_run() tells its caller. */
		machine->deadlocked = true;
		fiber_switch(&self->fiber, &machine->caller);
	} else if (next == self) {
		go_on(self);
	} else {
		go_on(next);
		fiber_switch(&self->fiber, &next->fiber);
	}
	what_if_settled(self);
}

int schedule_run(void)
{
	struct cpu *first;

	if (exploring) {
		first = explore_next();
		fiber_switch(&machine->caller, &first->fiber);
		current = NULL;
		return machine->deadlocked ? -EDEADLK : 0;
	}
	first = next_cpu();
	if (first) {
		go_on(first);
		fiber_switch(&machine->caller, &first->fiber);
	}
	current = accessor = NULL;
	return machine->deadlocked ? -EDEADLK : 0;
}

_Noreturn void schedule_exit(void)
{
	struct cpu *self = current;
	struct cpu *next;

	self->state = CPU_IDLE;
	if (likely(!exploring))
		current = NULL;
	--machine->running_count;
	window_cpu_returns(self);
	if (machine->running_count == 0) {
		fiber_switch(&self->fiber, &machine->caller);
	} else if (unlikely(exploring)) {
		next = explore_next();
		fiber_switch(&self->fiber, &next->fiber);
	} else {
		next = next_cpu();
		if (next) {
			go_on(next);
			fiber_switch(&self->fiber, &next->fiber);
		} else {
			machine->deadlocked = true;
			fiber_switch(&self->fiber, &machine->caller);
		}
	}
	__builtin_unreachable();
}
