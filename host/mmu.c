/* SPDX-License-Identifier: MIT */
/*
 * Waiting for access sections.
 *
 * The flusher has changed the page table, then looks who is in a section; a section stores that it is open,
 * then looks at the page table. Both pass a full barrier in between, so one of the two sees the other: a
 * section that the flusher does not find sees the changed page table. A barrier for the whole process,
 * membarrier(2), would spare the section its own; measured, its interrupts cost more with two threads than
 * the barrier does with one.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "port/cpu.h"
#include "port/mmu.h"

struct host_access host_access[PORT_CPUS_MAX];

static void wait_until_left(unsigned cpu)
{
	_Atomic uint64_t *sections = &host_access[cpu].sections;
	uint64_t seen = atomic_load_explicit(sections, memory_order_acquire);

	if (seen % 2 == 0)
		return;
	while (atomic_load_explicit(sections, memory_order_acquire) == seen)
		port_cpu_relax();
}

void host_mmu_flush(const uint64_t *cpus, unsigned words)
{
	const unsigned self = port_cpu();
	int others = 0;

	for (unsigned word = 0; word < words; word++)
		others |= (cpus[word] & ~(word == self / 64 ? (uint64_t)1 << self % 64 : 0)) != 0;
	if (!others)
		return;
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned word = 0; word < words; word++) {
		for (uint64_t left = cpus[word]; left; left &= left - 1) {
			unsigned cpu = word * 64 + (unsigned)__builtin_ctzll(left);

			if (cpu != self)
				wait_until_left(cpu);
		}
	}
}
