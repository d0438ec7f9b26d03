/* SPDX-License-Identifier: MIT */
/*
 * The entry points of the memory system. A system has frames of RAM and address spaces; a space has mappings
 * and a page table.
 *
 * Unless said otherwise, an entry point may be called by any number of CPUs at once, holding nothing and
 * outside every RCU read section, and never from a signal handler that interrupted another entry point of the
 * same CPU. sf_space_touch() may be called from a signal handler that interrupted user code.
 */
#ifndef MM_SYSTEM_SYSTEM_H
#define MM_SYSTEM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/memtype/memtype.h"
#include "mm/policy/policy.h"

struct sf_system;
struct sf_space;

struct sf_config {
	struct policy policy;
	/*
	 * Frames of RAM: PFNs 0 to own_frames - 1 are the system's own, the exported_frames that follow are
	 * RAM that PFN mappings may name. Above that lies what is not RAM. own_frames is 1 or more, both
	 * together at most FRAMES_MAX.
	 */
	uint64_t own_frames, exported_frames;
	bool structure_only; /* exported frames have no contents */
};

/*
 * Makes a system. Returns 0 with it in *system; -EINVAL with a message for numbers of frames or a policy that
 * cannot be; -ENOMEM with a message.
 */
int sf_system_create(const struct sf_config *config, struct sf_system **system, struct message *why);

/* Frees a system whose spaces are all destroyed. The last call that is made for it. */
void sf_system_destroy(struct sf_system *system);

/*
 * Checks every invariant of the system while no other entry point runs: frames, memory types, page tables
 * against mappings. Returns 0, or -EINVAL with the first that is broken.
 */
int sf_system_check(struct sf_system *system, struct message *why);

/* The memory types of the system's physical addresses: memtype_reserve() and memtype_free() are for its
 * users. */
struct memtypes *sf_system_memtypes(struct sf_system *system);

/* Makes an empty space. Returns it, or NULL when there is no memory or no frame for it. */
struct sf_space *sf_space_create(struct sf_system *system);

/* Unmaps everything and frees the space, which nobody uses any more. */
void sf_space_destroy(struct sf_space *space);

/*
 * Maps [address, address + length) to the frames from `pfn` on. Pages are inserted by the faults of the first
 * touches. Returns
 *   0        mapped.
 *   -EINVAL  not whole pages, empty, not below 2^47, or frames that are the system's own, part RAM and part
 *            not, or beyond FRAMES_MAX.
 *   -EEXIST  part of the range is mapped.
 *   -ENOMEM  no memory. Nothing has changed.
 */
int sf_space_map_pfn(struct sf_space *space, uintptr_t address, size_t length, uint64_t pfn, bool writable);

/*
 * Unmaps what is mapped of [address, address + length): no CPU reaches the frames through it when this has
 * returned, and no fault that was under way inserts any. Returns 0, -EINVAL as above, or -ENOMEM when a
 * mapping cannot be cut; nothing has changed then.
 */
int sf_space_unmap(struct sf_space *space, uintptr_t address, size_t length);

/*
 * Touches the byte at `address` as a program would, faulting until the page table has it. Unless the frame
 * has no contents, the byte is read, or written by itself. Returns 0        touched. -EFAULT  nothing is
 * mapped there. -EACCES  a write to what is mapped for reading. -ENOMEM  no frame for a page table; the
 * system is as before, but for page tables.
 */
int sf_space_touch(struct sf_space *space, uintptr_t address, bool write);

/*
 * Returns the page table entry of `address`, 0 if there is none, as a debugger would: no fault, and no bit
 * set.
 */
uint64_t sf_space_pte(struct sf_space *space, uintptr_t address);

#endif
