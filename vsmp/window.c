/* SPDX-License-Identifier: MIT */
/*
 * What a body tells of its own progress: the barrier at which all CPUs start together, and the window in
 * which what they do is measured.
 */
#include "port/panic.h"
#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"
#include "vsmp/what_if.h"
#include "vsmp/window.h"

static void end_window(struct cpu *cpu)
{
	what_if_settle(cpu);
	observe_mark(cpu->id, cpu->clock, true);
	cpu->measuring = false;
	cpu->window_ended = true;
	cpu->window_end = cpu->clock;
	machine->windows_ended++;
	cpu_update_tracing(cpu);
}

static void release_barrier(void)
{
	uint64_t latest = 0;

	if (unlikely(exploring))
		clocks_barrier();
	for (unsigned id = 0; id < machine->cpu_count; id++)
		if (machine->cpus[id].at_barrier && machine->cpus[id].clock > latest)
			latest = machine->cpus[id].clock;
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		if (!cpu->at_barrier)
			continue;
		cpu->at_barrier = false;
		cpu->clock = latest;
		if (machine->start_spread_cycles)
			cpu->clock += random_below(&machine->random, machine->start_spread_cycles);
		schedule_cpu(cpu);
	}
	machine->barrier_count = 0;
}

void window_cpu_returns(struct cpu *cpu)
{
	/* Without a window, or with one that it left open: it keeps nobody waiting. */
	if (cpu->measuring)
		end_window(cpu);
	else if (!cpu->window_ended)
		machine->windows_ended++;
	if (machine->barrier_count && machine->barrier_count == machine->running_count)
		release_barrier();
}

void vsmp_barrier(void)
{
	struct cpu *cpu = current;

	invariant(cpu);
	if (unlikely(exploring))
		explore_call("vsmp_barrier", NULL, __builtin_return_address(0));
	schedule_turn(cpu);
	observe_mark(cpu->id, cpu->clock, cpu->measuring);
	cpu->at_barrier = true;
	cpu->state = CPU_SLEEPING;
	cpu->waits_for = "for the others at the barrier";
	if (++machine->barrier_count == machine->running_count)
		release_barrier();
	schedule_others();
	cpu->waits_for = NULL;
	/* The wait was no work: no profile has it. */
	observe_mark(cpu->id, cpu->clock, false);
}

void vsmp_measure_begin(void)
{
	struct cpu *cpu = current;

	invariant(cpu && !cpu->measuring && !cpu->window_ended);
	what_if_settle(cpu);
	observe_mark(cpu->id, cpu->clock, false);
	cpu->measuring = true;
	cpu->window_begin = cpu->clock;
	cpu_update_tracing(cpu);
}

void vsmp_measure_end(void)
{
	struct cpu *cpu = current;

	invariant(cpu && cpu->measuring);
	end_window(cpu);
}

bool vsmp_measure_active(void)
{
	/* Who goes on only so that others meet a load would keep them from running. */
	return !exploring && machine->windows_ended < machine->cpu_count;
}

void vsmp_count_operations(uint64_t count)
{
	if (current && current->measuring)
		current->operations += count;
}

uint64_t vsmp_now_cycles(void)
{
	if (!current)
		return 0;
	what_if_settle(current);
	return current->clock;
}

uint64_t vsmp_window_cycles(unsigned cpu)
{
	return machine->cpus[cpu].window_ended
		   ? machine->cpus[cpu].window_end - machine->cpus[cpu].window_begin
		   : 0;
}
