/* SPDX-License-Identifier: MIT */
/*
 * port/wait.h: sleeping and waking. Sleepers stand in one list, in the order in which they fell asleep.
 */
#include "port/wait.h"

#include "port/panic.h"
#include "vsmp/access.h"
#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"
#include "vsmp/what_if.h"

/* False when the word differs already. */
static bool explore_wait(const void *word, uint32_t expected, const void *pc)
{
	struct explore_access look = {(uintptr_t)word, sizeof(uint32_t), EXPLORE_LOAD, __ATOMIC_RELAXED, pc};

	explore_no_reader("sleeps");
	explore_call("port_wait", word, pc);
	explore_before_atomic(&look);
	if (__atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != expected)
		return false;
	if (explore_alone)
		explore_fail(EXPLORE_DEADLOCK, NULL, "sleeps when no other CPU runs");
	return true;
}

void vsmp_wait(const void *word, uint32_t expected)
{
	struct cpu *cpu = current;
	struct cpu **link = &machine->first_sleeper;

	if (unlikely(exploring) && !explore_wait(word, expected, __builtin_return_address(0)))
		return;
	/* Alone, in a set-up: nobody could wake it. */
	invariant(cpu || __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != expected);
	if (!cpu)
		return;
	if (likely(!exploring))
		access_memory((uintptr_t)word, sizeof(uint32_t), ACCESS_READ, false);
	if (__atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != expected)
		return;
	/* From the look at the word to here no other CPU has run: that makes it one step. */
	while (*link)
		link = &(*link)->next_sleeper;
	*link = cpu;
	cpu->next_sleeper = NULL;
	cpu->sleep_word = word;
	cpu->sleep_expected = expected;
	cpu->state = CPU_SLEEPING;
	cpu->clock += cost(VSMP_SLEEP);
	what_if_settle(cpu);
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
	if (unlikely(exploring))
		explore_call("port_wake", word, __builtin_return_address(0));
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
		if (unlikely(exploring))
			clocks_wake(cpu);
		schedule_cpu(cpu);
	}
}
