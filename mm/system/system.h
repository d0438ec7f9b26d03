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
	/* Batches of frames that a CPU keeps on its list of a zone at most; 0 for 6. */
	unsigned pcp_batches;
	/* Pages that a fault on a swapped one reads at once: a power of two, at most 32; 0 for 8. */
	unsigned swap_read_ahead_pages;
	unsigned write_back_pages; /* of a file that one transfer writes at most; 0 for SF_IO_PAGES_MAX */
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

/*
 * sf_swap_add() of any system. `discard`: the backing's punch(), which must not sleep, is called for each
 * slot that becomes free. Returns as that, and -EINVAL for discard without punch().
 */
int system_add_swap(struct sf_system *system, struct sf_backing *backing, int priority, bool discard);

/* Whether pages have no contents. */
bool system_structure_only(const struct sf_system *system);

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

/* Whether what is mapped at `address` is in swap, as /proc/PID/pagemap tells: a moment ago. */
bool system_in_swap(struct sf_space *space, uint64_t address);

/*
 * Returns the page table entry of `address`, 0 if there is none, as a debugger would: no fault, and no bit
 * set.
 */
uint64_t system_pte(struct sf_space *space, uint64_t address);

#endif
