/* SPDX-License-Identifier: MIT */
/*
 * Contract: the memory management unit. The page tables belong to mm/table/; a machine that has a real MMU
 * to feed mirrors each change here, and the virtual one accounts for what the hardware would take.
 */
#ifndef PORT_MMU_H
#define PORT_MMU_H

#include <stdint.h>

/* Stands around the handling of one fault: the cost of the exception and of the return from it. */
static inline void port_fault_enter(void);
static inline void port_fault_exit(void);

/*
 * A PTE of the address space `space` (any number that names it) changed at `address`: from not present to
 * present, from present to not present, or in its protection. `pte` is in x86-64's own format.
 * Called with whatever protects that PTE held.
 */
static inline void port_mmu_map(uintptr_t space, uintptr_t address, uint64_t pte);
static inline void port_mmu_unmap(uintptr_t space, uintptr_t address);
static inline void port_mmu_protect(uintptr_t space, uintptr_t address, uint64_t pte);

/*
 * Stands around every use of a translation: from the look at the page table to the last access of the
 * contents it led to. So that a CPU cannot be between the two while the frame gets a new life. Writes only
 * the CPU's own line; sections do not nest, and nobody waits for another CPU inside.
 */
static inline void port_mmu_access_begin(void);
static inline void port_mmu_access_end(void);

/*
 * Makes the CPUs in `cpus` (a bitmap of `words` 64-bit words, CPU 0 the lowest bit of the first) drop their
 * translations of [start, end) of `space`, and returns when all have: each of them that was inside an access
 * section has left it. What the caller stored before, the sections that begin later see; what was done inside
 * those that ended has happened before the return. The caller's own CPU, in no section, is flushed too if it
 * is in the set. No spinning lock may be held. May be called by several CPUs at once, and by a fault.
 */
static inline void port_mmu_flush(uintptr_t space, uintptr_t start, uintptr_t end, const uint64_t *cpus,
				  unsigned words);

#include <port_home/mmu.h>

#endif
