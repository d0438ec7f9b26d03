/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/mmu.h. The page tables are not fed to the hardware here, so there is
 * nothing to mirror. A translation is in use only inside an access section, and what a flush does is to wait
 * for those: host/mmu.c.
 */
#ifndef HOST_HOME_PORT_HOME_MMU_H
#define HOST_HOME_PORT_HOME_MMU_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "port/cpu.h"

/* Odd while the CPU is inside a section. Written by that CPU alone. */
struct host_access {
	CACHE_LINE_ALIGNED _Atomic uint64_t sections;
};

extern struct host_access host_access[PORT_CPUS_MAX];

void host_mmu_flush(const uint64_t *cpus, unsigned words);

static inline void port_mmu_access_begin(void)
{
	struct host_access *access = &host_access[port_cpu()];

	atomic_store_explicit(&access->sections,
			      atomic_load_explicit(&access->sections, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	/* The store comes before all loads of the section; the other side is in host_mmu_flush(). */
	atomic_thread_fence(memory_order_seq_cst);
}

static inline void port_mmu_access_end(void)
{
	struct host_access *access = &host_access[port_cpu()];

	/* Release: who sees the section over comes after all that was done in it. */
	atomic_store_explicit(&access->sections,
			      atomic_load_explicit(&access->sections, memory_order_relaxed) + 1,
			      memory_order_release);
}

static inline void port_fault_enter(void)
{
}

static inline void port_fault_exit(void)
{
}

static inline void port_mmu_map(uintptr_t space, uintptr_t address, uint64_t pte)
{
	(void)space;
	(void)address;
	(void)pte;
}

static inline void port_mmu_unmap(uintptr_t space, uintptr_t address)
{
	(void)space;
	(void)address;
}

static inline void port_mmu_protect(uintptr_t space, uintptr_t address, uint64_t pte)
{
	(void)space;
	(void)address;
	(void)pte;
}

static inline void port_mmu_flush(uintptr_t space, uintptr_t start, uintptr_t end, const uint64_t *cpus,
				  unsigned words)
{
	(void)space;
	(void)start;
	(void)end;
	host_mmu_flush(cpus, words);
}

#endif
