/* SPDX-License-Identifier: MIT */
/*
 * port/wait.h: sleeping and waking. Sleepers stand in one list, in the order in which they fell asleep.
 */
#include "port/wait.h"

#include "port/panic.h"
#include "vsmp/access.h"
#include "vsmp/core.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"

void vsmp_wait(const void *word, uint32_t expected)
{
	struct cpu *cpu = current;
	struct cpu **link = &machine->first_sleeper;

	/* Alone, in a set-up: nobody could wake it. */
	invariant(cpu || __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != expected);
	if (!cpu)
		return;
	access_memory((uintptr_t)word, sizeof(uint32_t), ACCESS_READ, false);
	if (__atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != expected)
		return;
	/* From the look at the word to here no other CPU has run: that makes it one step. */
	while (*link)
		link = &(*link)->next_sleeper;
	*link = cpu;
	cpu->next_sleeper = NULL;
	cpu->sleep_word = word;
	cpu->state = CPU_SLEEPING;
	cpu->clock += cost(VSMP_SLEEP);
	observe_mark(cpu->id, cpu->clock, cpu->measuring);
	cpu->waits_for = "to be woken (sleeping)";
	schedule_others();
	cpu->waits_for = NULL;
	/* An idle CPU's time is nobody's: the profile has only the falling asleep and the waking up. */
	observe_mark(cpu->id, cpu->clock - (uint64_t)cost(VSMP_WAKE), false);
}

void vsmp_wake(const void *word, unsigned count)
{
	struct cpu *self = current;
	struct cpu **link = &machine->first_sleeper;

	if (!self)
		return;
	schedule_turn(self);
	while (*link && count) {
		struct cpu *cpu = *link;

		if (cpu->sleep_word != word) {
			link = &cpu->next_sleeper;
			continue;
		}
		*link = cpu->next_sleeper;
		count--;
		if (cpu->clock < self->clock)
			cpu->clock = self->clock;
		cpu->clock += cost(VSMP_WAKE);
		cpu->sleep_word = NULL;
		schedule_cpu(cpu);
	}
}
