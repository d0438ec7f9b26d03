/* SPDX-License-Identifier: MIT */
/*
 * port/trace.h: what the code tells about itself goes to the observers, and costs no virtual time.
 */
#include "port/trace.h"

#include "port/panic.h"
#include "vsmp/core.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"

static void update_tracing(struct cpu *cpu)
{
	cpu->trace_accesses = machine->conflicts && cpu->measuring && cpu->scope_depth;
}

void vsmp_scope_begin(const char *name)
{
	struct cpu *cpu = current;

	if (!cpu)
		return;
	invariant(cpu->scope_depth < SCOPE_DEPTH_MAX);
	cpu->scopes[cpu->scope_depth++] = name;
	update_tracing(cpu);
}

void vsmp_scope_end(void)
{
	struct cpu *cpu = current;

	if (!cpu)
		return;
	invariant(cpu->scope_depth > 0);
	cpu->scope_depth--;
	update_tracing(cpu);
}

void vsmp_lock_contended(const void *lock, const char *name, int shared)
{
	if (current && machine->locks)
		observe_lock_contended(current->id, lock, name, shared, current->clock);
}

void vsmp_lock_acquired(const void *lock, const char *name, int shared)
{
	struct cpu *cpu = current;

	if (!cpu || !machine->locks)
		return;
	observe_lock_acquired(cpu->id, lock, name, shared, cpu->clock,
			      cpu->last_transfer && cpu->last_transfer == line_of((uintptr_t)lock),
			      cpu->measuring);
	cpu->last_transfer = NULL;
}

void vsmp_lock_released(const void *lock, const char *name, int shared)
{
	if (current && machine->locks)
		observe_lock_released(current->id, lock, name, shared, current->clock, current->measuring);
}

void vsmp_measure_begin(void)
{
	struct cpu *cpu = current;

	invariant(cpu && !cpu->measuring && !cpu->window_ended);
	observe_mark(cpu->id, cpu->clock, false);
	cpu->measuring = true;
	cpu->window_begin = cpu->clock;
	update_tracing(cpu);
}

void vsmp_measure_end(void)
{
	struct cpu *cpu = current;

	invariant(cpu && cpu->measuring);
	observe_mark(cpu->id, cpu->clock, true);
	cpu->measuring = false;
	cpu->window_ended = true;
	cpu->window_end = cpu->clock;
	machine->windows_ended++;
	update_tracing(cpu);
}

bool vsmp_measure_active(void)
{
	return machine->windows_ended < machine->cpu_count;
}

void vsmp_count_operations(uint64_t count)
{
	if (current && current->measuring)
		current->operations += count;
}

uint64_t vsmp_now_cycles(void)
{
	return current ? current->clock : 0;
}

uint64_t vsmp_window_cycles(unsigned cpu)
{
	return machine->cpus[cpu].window_ended
		   ? machine->cpus[cpu].window_end - machine->cpus[cpu].window_begin
		   : 0;
}
