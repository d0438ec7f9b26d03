/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/mmu.h. The page tables are not fed to the hardware here, so there is
 * nothing to mirror and no translation to flush.
 */
#ifndef HOST_HOME_PORT_HOME_MMU_H
#define HOST_HOME_PORT_HOME_MMU_H

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
	(void)cpus;
	(void)words;
}

#endif
