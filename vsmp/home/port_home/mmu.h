/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_MMU_H
#define PORT_HOME_MMU_H

#include "vsmp/home/inline.h"

#include <stdint.h>

/* vsmp/mmu.c. The virtual machine has no page tables of its own: what a PTE says is the code's affair, and
 * writing it is an access like any other. */
void vsmp_fault_enter(void);
void vsmp_access_begin(void);
void vsmp_access_end(void);
void vsmp_mmu_flush(const uint64_t *cpus, unsigned words);

static inline void port_fault_enter(void)
{
	vsmp_fault_enter();
}

/* The cost of the return is in that of the exception. */
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

PORT_HOME_INLINE void port_mmu_access_begin(void)
{
	vsmp_access_begin();
}

PORT_HOME_INLINE void port_mmu_access_end(void)
{
	vsmp_access_end();
}

static inline void port_mmu_flush(uintptr_t space, uintptr_t start, uintptr_t end, const uint64_t *cpus,
				  unsigned words)
{
	(void)space;
	(void)start;
	(void)end;
	vsmp_mmu_flush(cpus, words);
}

#endif
