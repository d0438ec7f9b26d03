/* SPDX-License-Identifier: MIT */
/*
 * port/mmu.h: what the hardware takes for a fault and for a TLB shootdown.
 */
#include "port/mmu.h"

#include "vsmp/core.h"
#include "vsmp/schedule.h"

void vsmp_fault_enter(void)
{
	struct cpu *cpu = current;

	if (cpu)
		cpu->clock += cpu->fault_cycles;
}

void vsmp_mmu_flush(const uint64_t *cpus, unsigned words)
{
	struct cpu *self = current;
	unsigned targets = 0;

	if (!self)
		return;
	schedule_turn(self);
	for (unsigned id = 0; id < machine->cpu_count && id / 64 < words; id++) {
		if (!(cpus[id / 64] >> (id % 64) & 1) || id == self->id)
			continue;
		targets++;
		/* The interrupted CPU loses the time when it next takes its turn; an idle one has none to
		 * lose. */
		if (machine->cpus[id].state != CPU_IDLE)
			machine->cpus[id].stolen_cycles += cost(VSMP_IPI_HANDLE);
	}
	self->clock += cost(VSMP_IPI_HANDLE);
	if (targets)
		self->clock += targets * cost(VSMP_IPI_SEND) + cost(VSMP_IPI_HANDLE);
}
