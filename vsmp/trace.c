/* SPDX-License-Identifier: MIT */
/*
 * port/trace.h: what the code tells about itself goes to the observers, and costs no virtual time.
 */
#include "port/trace.h"

#include "port/panic.h"
#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"
#include "vsmp/what_if.h"

void vsmp_scope_begin(const char *name)
{
	struct cpu *cpu = current;

	if (!cpu)
		return;
	invariant(cpu->scope_depth < SCOPE_DEPTH_MAX);
	cpu->scopes[cpu->scope_depth++] = name;
	cpu_update_tracing(cpu);
}

void vsmp_scope_end(void)
{
	struct cpu *cpu = current;

	if (!cpu)
		return;
	invariant(cpu->scope_depth > 0);
	cpu->scope_depth--;
	cpu_update_tracing(cpu);
}

void vsmp_lock_contended(const void *lock, const char *name, int shared)
{
	if (!current || !machine->locks)
		return;
	what_if_settle(current);
	observe_lock_contended(current->id, lock, name, shared, current->clock);
}

void vsmp_lock_acquired(const void *lock, const char *name, int shared)
{
	struct cpu *cpu = current;

	if (unlikely(exploring))
		clocks_lock_acquired();
	if (!cpu || !machine->locks)
		return;
	what_if_settle(cpu);
	observe_lock_acquired(cpu->id, lock, name, shared, cpu->clock,
			      cpu->last_transfer && cpu->last_transfer == line_of((uintptr_t)lock),
			      cpu->measuring);
	cpu->last_transfer = NULL;
}

void vsmp_lock_released(const void *lock, const char *name, int shared)
{
	if (unlikely(exploring))
		clocks_lock_released();
	if (!current || !machine->locks)
		return;
	what_if_settle(current);
	observe_lock_released(current->id, lock, name, shared, current->clock, current->measuring);
}
