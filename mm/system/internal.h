/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/system/.
 */
#ifndef MM_SYSTEM_INTERNAL_H
#define MM_SYSTEM_INTERNAL_H

#include "base/compiler.h"
#include "mm/charge/charge.h"
#include "mm/fault/fault.h"
#include "mm/page/frames.h"
#include "mm/rmap/reverse_map.h"
#include "mm/space/space.h"
#include "mm/system/system.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "port/rcu.h"
#include "sync/lock_nodes.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

/* One CPU's own. The counts are written by that CPU alone, relaxed; read by anyone. */
struct system_cpu {
	CACHE_LINE_ALIGNED bool inside; /* of an entry point */
	_Atomic uint64_t copies_on_write, reuses, zero_page_maps;
	int64_t retired_base; /* what its count of retired bytes is while nothing of its own waits */
};

/* The spaces that were made on one CPU, which makes and ends most of them itself. By the lock. */
struct space_list {
	CACHE_LINE_ALIGNED struct spinlock lock; /* space_list_lock */
	struct sf_space *first;                  /* linked by next_space */
	uint64_t past_faults;                    /* of spaces that are gone */
};

/*
 * The TLBs that hold translations on a CPU of the machine, of whatever system: a call of one system may wait
 * for who waits for a TLB of another. Private to the CPU.
 */
struct tlb_cpu {
	CACHE_LINE_ALIGNED struct tlb *active; /* linked by next_active: mm/system/access_tlb.c */
};

extern struct tlb_cpu tlb_cpu[PORT_CPUS_MAX];

struct sf_system {
	/* Read only after system_create(). */
	CACHE_LINE_ALIGNED struct policy policy;
	bool structure_only;
	int64_t retired_max; /* bytes of RAM that may wait for a grace period after one CPU's call */
	struct frames *frames;
	struct groups *groups;
	struct memtypes *memtypes;
	struct swap *swap;
	struct rmap rmap;
	struct reclaim *reclaim;
	struct lock_nodes lock_nodes;
	struct percpu cpu; /* of struct system_cpu */
	struct space_parts parts;

	/* Who adds a swap area has it for writing. */
	struct rwsem swap_areas_lock;
	struct percpu space_lists; /* of struct space_list */
};

/* The next space of the system, NULL for the first; NULL after the last. While none is made or ended. */
struct sf_space *system_next_space(const struct sf_system *system, const struct sf_space *space);

/*
 * Stand around every entry point. What a signal handler calls must never have interrupted the system itself,
 * whose per-CPU data and locks it would find in any state.
 */
static inline void system_enter(struct sf_system *system)
{
	struct system_cpu *cpu;

	precondition(port_cpu() < port_cpu_count(), "a call without sf_thread_enter()");
	cpu = percpu_this(&system->cpu);
	invariant(!cpu->inside);
	cpu->inside = true;
	if (unlikely(tlb_cpu[port_cpu()].active))
		system_tlbs_idle();
}

static inline void system_exit(struct sf_system *system)
{
	struct system_cpu *cpu = percpu_this(&system->cpu);

	cpu->inside = false;
}

/* The same for entry points that may do the work that waits for grace periods: all but the fault path. */
static inline struct sf_system *system_enter_call(struct sf_space *space)
{
	struct sf_system *system = space->parts.system;

	system_enter(system);
	port_rcu_poll();
	return system;
}

/*
 * Waits until all that waits for grace periods is free. Twice: the first pages that go may be the last of a
 * destroyed group, which waits for another one then.
 */
static inline void system_barrier(void)
{
	port_rcu_barrier();
	port_rcu_barrier();
}

/* Waits for a grace period when too much RAM of the calling CPU does: mm/system/system.c. */
void system_bound_retired(struct sf_system *system);

/* The end of what began with system_enter_call(), with nothing held. */
static inline void system_exit_call(struct sf_system *system)
{
	if (port_rcu_pending())
		system_bound_retired(system);
	system_exit(system);
}

static inline void system_add(_Atomic uint64_t *count, bool one)
{
	if (one)
		atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

/*
 * For a call that may be tried again when a frame, or room in a group, was refused: it is begun with nothing
 * refused, and after -ENOMEM system_make_room() says whether to try again. *fruitless begins as 0. `space` is
 * whose group was charged; NULL: the root. Nothing is held. Sleeps.
 */
static inline void system_forget_refusal(struct sf_system *system)
{
	struct page_group *group;

	(void)frames_take_refusal(system->frames, &group);
}
bool system_make_room(struct sf_system *system, struct sf_space *space, unsigned *fruitless);

/* Counts what a fault did. Part of the fault path. */
static inline void system_count_fault(struct sf_system *system, unsigned events)
{
	struct system_cpu *cpu = percpu_this(&system->cpu);

	system_add(&cpu->copies_on_write, events & FAULT_COPY);
	system_add(&cpu->reuses, events & FAULT_REUSE);
	system_add(&cpu->zero_page_maps, events & FAULT_ZERO_PAGE);
}

/* What populate() does about what it cannot have. */
enum populate_kind {
	POPULATE_MAP,    /* mmap, mremap: goes on with the next VMA, and returns 0 */
	POPULATE_LOCKED, /* mprotect: as that, and skips VMAs that are not locked */
	POPULATE_LOCK,   /* mlock: returns -EFAULT or -ENOMEM */
};

/* Faults the pages of [start, end) in, as each VMA is: written to if it is private and writable. */
int populate(struct sf_space *space, uintptr_t start, uintptr_t end, enum populate_kind kind);

/* MADV_POPULATE_READ and MADV_POPULATE_WRITE of a checked range: 0, -ENOMEM, -EINVAL or -EFAULT. */
int populate_advised(struct sf_space *space, uintptr_t start, uintptr_t end, bool write);

/* MADV_COLD and MADV_PAGEOUT of a checked range: 0, -ENOMEM or -EINVAL. */
int cool_advised(struct sf_space *space, uintptr_t start, uintptr_t end, bool page_out);

/* MADV_REMOVE of a checked range: 0, -ENOMEM, -EINVAL, -EACCES, or as sf_object_punch(). */
int remove_advised(struct sf_space *space, uintptr_t start, uintptr_t end);

/* Which frames a check has met, and how often. */
struct check {
	struct sf_system *system;
	struct message *why;
	uint32_t *mapped; /* [own frames]: PTEs that map it, and CHECK_HELD */
	uint64_t tables, pages, anonymous, pinned, pfn_vmas;
	uint64_t shared, file;         /* pages of objects */
	uint64_t index_frames;         /* that hold nodes of page indices */
	uint64_t cached, slots_cached; /* pages in the swap cache, by themselves and by its slots */
};

/* An object has the page. */
#define CHECK_HELD (UINT32_C(1) << 31)

/*
 * Checks one space's VMAs and page table; who has references on objects and identities; objects with their
 * pages, counts, mappings and index nodes; and what pages count.
 */
int check_space(struct check *check, struct sf_space *space);
int check_references(struct check *check);
int check_objects(struct check *check);
int check_pages(struct check *check);

#endif
