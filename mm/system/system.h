/* SPDX-License-Identifier: MIT */
/*
 * The memory system, as the engines and tests see it beside softfault.h: how one is made inside a machine
 * that is open already, and PFN mappings. A system has frames of RAM and spaces.
 *
 * Unless said otherwise, an entry point may be called by any number of CPUs at once, holding nothing and
 * outside every RCU read section, and never from a signal handler that interrupted another entry point of the
 * same CPU. sf_touch() may be called from a signal handler that interrupted user code.
 */
#ifndef MM_SYSTEM_SYSTEM_H
#define MM_SYSTEM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/memtype/memtype.h"
#include "mm/policy/policy.h"
#include "softfault.h"

struct system_config {
	struct policy policy;
	/*
	 * Frames of RAM: PFNs 0 to own_frames - 1 are the system's own, the exported_frames that follow are
	 * RAM that PFN mappings may name. Above that lies what is not RAM. own_frames is 2 or more, one is
	 * the zero page; both together at most FRAMES_MAX.
	 */
	uint64_t own_frames, exported_frames;
	bool structure_only; /* pages have no contents */
	/* Frames that a TLB gather takes at most before it flushes; 0 for GATHER_BATCHES_MAX. */
	unsigned gather_batches;
	/*
	 * Where placement from the top begins, and below which address nothing can be mapped
	 * (vm.mmap_min_addr); whole pages, 0 for those of mm/space/space.h.
	 */
	uint64_t map_base, map_min;
};

/*
 * Makes a system. Returns 0 with it in *system; -EINVAL with a message for numbers of frames or a policy that
 * cannot be; -ENOMEM with a message.
 */
int system_create(const struct system_config *config, struct sf_system **system, struct message *why);

/* Frees a system whose spaces are all destroyed. The last call that is made for it. */
void system_destroy(struct sf_system *system);

/*
 * What was found in the software TLBs of the calling CPU, of all systems, is used no more: nobody who flushes
 * needs to wait for it. Every entry point begins so; so does who waits for other CPUs outside of one.
 */
void system_tlbs_idle(void);

/*
 * The calling CPU, outside of every entry point, stops for a while or for good: what it holds back of groups'
 * memory is given back.
 */
void system_cpu_idle(struct sf_system *system);

/*
 * Checks every invariant of the system while no other entry point runs: frames, memory types, VMAs, page
 * tables against VMAs, counts of references and mappings against page tables, groups' usage against the pages
 * that are charged. Returns 0, -EINVAL with the first that is broken, or -ENOMEM.
 */
int system_check(struct sf_system *system, struct message *why);

/* The memory types of the system's physical addresses: memtype_reserve() and memtype_free() are for its
 * users. */
struct memtypes *system_memtypes(struct sf_system *system);

/*
 * Maps [address, address + length) to the frames from `pfn` on. Pages are inserted by the faults of the first
 * touches. Returns
 *   0        mapped.
 *   -EINVAL  not whole pages, empty, not in a space, or frames that are the system's own, part RAM and part
 *            not, or beyond FRAMES_MAX.
 *   -EEXIST  part of the range is mapped.
 *   -ENOMEM  no memory. Nothing has changed.
 */
int system_map_pfn(struct sf_space *space, uint64_t address, uint64_t length, uint64_t pfn, bool writable);

/*
 * Returns the page table entry of `address`, 0 if there is none, as a debugger would: no fault, and no bit
 * set.
 */
uint64_t system_pte(struct sf_space *space, uint64_t address);

#endif
