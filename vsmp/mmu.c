/* SPDX-License-Identifier: MIT */
/*
 * port/mmu.h: what the hardware takes for a fault and for a TLB shootdown. An access section stands for one
 * instruction of the program, which an interrupt does not cut in two; so it costs nothing, and the flusher
 * waits until it is over. Nobody waits inside a section, so the wait always ends.
 */
#include "port/mmu.h"

#include "port/panic.h"
#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/schedule.h"

void vsmp_fault_enter(void)
{
	struct cpu *cpu = current;

	if (cpu)
		cpu->clock += cpu->fault_cycles;
}

static struct cpu *self(void)
{
	return &machine->cpus[current_id];
}

void vsmp_access_begin(void)
{
	struct cpu *cpu = self();

	if (unlikely(exploring))
		explore_call("port_mmu_access_begin", NULL, __builtin_return_address(0));
	invariant(!cpu->in_access);
	cpu->in_access = true;
	if (unlikely(exploring))
		clocks_access_begin();
}

/* `cpu` has left its section at its clock: flushers that waited for that, and for nobody else, go on. */
static void tell_flushers(struct cpu *cpu)
{
	struct cpu **link = &machine->first_flusher;

	while (*link) {
		struct cpu *flusher = *link;
		uint64_t *word = &flusher->flush_waits_for[cpu->id / 64], bit = (uint64_t)1 << cpu->id % 64;

		if (*word & bit) {
			*word &= ~bit;
			flusher->flush_pending--;
		}
		if (flusher->flush_pending) {
			link = &flusher->next_flusher;
			continue;
		}
		*link = flusher->next_flusher;
		if (flusher->clock < cpu->clock)
			flusher->clock = cpu->clock;
		schedule_cpu(flusher);
	}
}

void vsmp_access_end(void)
{
	struct cpu *cpu = self();

	invariant(cpu->in_access);
	cpu->in_access = false;
	if (unlikely(exploring))
		clocks_access_end();
	if (machine->first_flusher)
		tell_flushers(cpu);
}

/* Waits until the sections are over that flush_waits_for names. */
static void wait_for_sections(struct cpu *cpu)
{
	cpu->next_flusher = machine->first_flusher;
	machine->first_flusher = cpu;
	cpu->state = CPU_IN_FLUSH;
	cpu->waits_for = "for other CPUs' accesses to end (TLB flush)";
	schedule_others();
	cpu->waits_for = NULL;
}

/* A CPU at work loses the time when it next takes its turn. One that waits handles the interrupt meanwhile.
 */
static void interrupt(struct cpu *target, uint64_t now)
{
	uint64_t handled = now + cost(VSMP_IPI_HANDLE);

	if (target->state == CPU_READY || target->state == CPU_FETCHING)
		target->stolen_cycles += cost(VSMP_IPI_HANDLE);
	else if (target->state != CPU_IDLE && target->clock < handled)
		target->clock = handled;
}

void vsmp_mmu_flush(const uint64_t *cpus, unsigned words)
{
	struct cpu *cpu = current;
	unsigned targets = 0;

	invariant(!self()->in_access);
	if (!cpu)
		return;
	if (unlikely(exploring))
		explore_call("port_mmu_flush", NULL, __builtin_return_address(0));
	schedule_turn(cpu);
	if (unlikely(exploring))
		clocks_flush_begin(cpus, words);
	for (unsigned id = 0; id < machine->cpu_count && id / 64 < words; id++) {
		if (!(cpus[id / 64] >> (id % 64) & 1) || id == cpu->id)
			continue;
		targets++;
		interrupt(&machine->cpus[id], cpu->clock);
		if (machine->cpus[id].in_access) {
			cpu->flush_waits_for[id / 64] |= (uint64_t)1 << id % 64;
			cpu->flush_pending++;
		}
	}
	if (cpu->flush_pending)
		wait_for_sections(cpu);
	if (unlikely(exploring))
		clocks_flush();
	cpu->clock += cost(VSMP_IPI_HANDLE);
	if (targets)
		cpu->clock += targets * cost(VSMP_IPI_SEND) + cost(VSMP_IPI_HANDLE);
}
