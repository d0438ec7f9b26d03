/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/system/.
 */
#ifndef MM_SYSTEM_INTERNAL_H
#define MM_SYSTEM_INTERNAL_H

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "mm/system/mapping_set.h"
#include "mm/system/system.h"
#include "mm/table/table.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "port/rcu.h"
#include "sync/lock_nodes.h"
#include "sync/percpu.h"
#include "sync/rwsem.h"
#include "sync/spinlock.h"

#define CPU_MASK_WORDS (PORT_CPUS_MAX / 64)

/* One CPU's own. */
struct system_cpu {
	CACHE_LINE_ALIGNED bool inside; /* of an entry point */
};

struct sf_system {
	/* Read only after sf_system_create(). */
	CACHE_LINE_ALIGNED struct policy policy;
	bool structure_only;
	struct frames *frames;
	struct memtypes *memtypes;
	struct lock_nodes lock_nodes;
	struct percpu cpu; /* of struct system_cpu */

	CACHE_LINE_ALIGNED struct spinlock space_list_lock;
	struct sf_space *spaces; /* linked by next_space; protected by space_list_lock */
};

struct sf_space {
	/* Read only after sf_space_create(), and read by every fault. */
	CACHE_LINE_ALIGNED struct sf_system *system;
	struct table table;
	/* RCU; written under the lock below. */
	struct mapping_set *_Atomic mappings;

	/* Which CPUs have touched the space, so may hold translations. Bits are only ever set. Atomic. */
	CACHE_LINE_ALIGNED _Atomic uint64_t touched_by[CPU_MASK_WORDS];

	/* Held by whoever changes the mappings, from the first look to the last cleared entry. */
	struct rwsem lock;

	/* Protected by space_list_lock. */
	struct sf_space *next_space;
	struct sf_space **link;
};

/*
 * Stand around every entry point. What a signal handler calls must never have interrupted the system itself,
 * whose per-CPU data and locks it would find in any state.
 */
static inline void system_enter(struct sf_system *system)
{
	struct system_cpu *cpu = percpu_this(&system->cpu);

	invariant(!cpu->inside);
	cpu->inside = true;
}

static inline void system_exit(struct sf_system *system)
{
	struct system_cpu *cpu = percpu_this(&system->cpu);

	cpu->inside = false;
}

/* Checks a range of addresses. */
static inline bool range_valid(uintptr_t address, size_t length)
{
	return length && (address | length) % PORT_PAGE_SIZE == 0 && length <= TABLE_ADDRESS_END &&
	       address <= TABLE_ADDRESS_END - length;
}

#endif
