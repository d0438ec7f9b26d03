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

/* Of up to WAYS keys from `child` on, the number of the smallest. Which it is nobody can foretell, so where
 * there are four no branch hangs on it. */
static unsigned least_of(unsigned child)
{
	const uint64_t *keys = schedule.keys;
	unsigned least = child, left, right;

	if (likely(child + WAYS <= schedule.count)) {
		left = child + (keys[child + 1] < keys[child]);
		right = child + 2 + (keys[child + 3] < keys[child + 2]);
		return left + (right - left) * (keys[right] < keys[left]);
	}
	for (unsigned other = child + 1; other < schedule.count; other++)
		if (keys[other] < keys[least])
			least = other;
	return least;
}

/* Takes the smallest key out, which there is, and `key` in. */
static uint64_t replace_top(uint64_t key)
{
	uint64_t top = schedule.keys[0];
	unsigned at = 0, child;

	while ((child = at * WAYS + 1) < schedule.count) {
		unsigned least = least_of(child);

		if (schedule.keys[least] >= key)
			break;
		schedule.keys[at] = schedule.keys[least];
		at = least;
	}
	schedule.keys[at] = key;
	return top;
}

static uint64_t pop(void)
{
	return replace_top(schedule.keys[--schedule.count]);
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

/* Handles an event, and returns the CPU whose code must go on for it, if any. */
static struct cpu *handle(uint64_t key)
{
	unsigned number = key & ((1u << EVENT_BITS) - 1);
	struct cpu *cpu;

	if (number >= EVENT_QUEUES) {
		coherence_serve(number - EVENT_QUEUES, key >> EVENT_BITS);
		return NULL;
	}
	cpu = &machine->cpus[number];
	if (!cpu->leads_group)
		return cpu;
	spinning_look(cpu);
	return NULL;
}

/* Handles events until one is a CPU whose code must go on, and returns that CPU; NULL when none is left. */
static struct cpu *next_cpu(void)
{
	struct cpu *cpu = NULL;

	while (!cpu && (schedule.count || (machine->rescues++ < RESCUES_MAX && spinning_rescue())))
		cpu = handle(pop());
	return cpu;
}

static void go_on(struct cpu *cpu)
{
	current = accessor = cpu;
	current_id = cpu->id;
	cpu->run_ahead_limit =
	    schedule.count ? (schedule.keys[0] >> EVENT_BITS) + RUN_AHEAD_CYCLES : UINT64_MAX;
}

/* Lets `next` run, which is NULL when nobody can ever run again; returns when it is `self`'s turn. */
static void switch_to(struct cpu *self, struct cpu *next)
{
	if (!next) {
		/* schedule_run() tells its caller. */
		machine->deadlocked = true;
		fiber_switch(&self->fiber, &machine->caller);
	} else if (next == self) {
		go_on(self);
	} else {
		go_on(next);
		fiber_switch(&self->fiber, &next->fiber);
	}
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
	switch_to(self, next_cpu());
	what_if_settled(self);
}

void schedule_yield(struct cpu *self)
{
	struct cpu *next;

	if (unlikely(exploring)) {
		schedule_cpu(self);
		schedule_others();
		return;
	}
	self->state = CPU_READY;
	current = NULL;
	next = handle(replace_top(event_key(self->clock, self->id)));
	switch_to(self, next ? next : next_cpu());
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
		switch_to(self, next_cpu());
	}
	__builtin_unreachable();
}
