/* SPDX-License-Identifier: MIT */
/*
 * What the objects of a system share: frames, nodes for their indices, the policy's choices, and a list.
 */
#ifndef MM_OBJECT_OBJECTS_H
#define MM_OBJECT_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "mm/policy/policy.h"
#include "port/cpu.h"
#include "sync/lock_nodes.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

struct index_nodes;
struct page_index_ops;
struct sf_object;
struct sf_system;
struct shmem_ops;

enum objects_counter {
	OBJECTS_WRITE_BACKS,   /* transfers to files' backings */
	OBJECTS_WRITTEN,       /* pages, in those that succeeded */
	OBJECTS_SINGLE_WRITES, /* of the transfers: reclaim's, of one page */
	OBJECTS_COUNTERS
};

/* One CPU's own. */
struct objects_cpu {
	/* Written by that CPU alone, relaxed; read by anyone. */
	CACHE_LINE_ALIGNED _Atomic uint64_t count[OBJECTS_COUNTERS];
	/* The object for a page of which a fault waits: mm/object/waiter.h. Atomic. */
	_Atomic uintptr_t waits_for;
};

/*
 * Takes the right to write to the pages [first, end) of the object from all mappings, and returns when nobody
 * writes through an old translation. With dirty_tracking=pte it takes the dirty bits instead, and with `tell`
 * makes the pages dirty before. mm/object/ knows no mappings: who makes the system hands it in.
 */
typedef void objects_protect(struct sf_object *object, uint64_t first, uint64_t end, bool tell);

struct objects {
	/* Read only after objects_create(), but for what is set once by who calls that. */
	struct sf_system *system; /* opaque here */
	struct frames *frames;
	const struct lock_nodes *lock_nodes;
	struct index_nodes *nodes;
	const struct page_index_ops *index_ops; /* policy->page_index */
	const struct shmem_ops *shmem_ops;      /* policy->shmem_alloc and shmem_account */

	objects_protect *protect;  /* set once */
	unsigned write_back_pages; /* set once: pages of one transfer at most, 1 to SF_IO_PAGES_MAX */
	struct percpu cpu;         /* of struct objects_cpu */
	bool dirty_by_pte;         /* policy->dirty_tracking */

	CACHE_LINE_ALIGNED struct spinlock list_lock;
	/* By list_lock. */
	struct sf_object *list; /* all that hold pages, the newest first, linked by next */
	uint64_t created;       /* objects, ever */

	/* Somebody is in objects_write_back(); who does so sets it. Atomic. */
	CACHE_LINE_ALIGNED _Atomic bool writing_back;
	/* The number of the file where that stopped the last time. By writing_back. */
	uint64_t write_back_number;
};

static inline void objects_count(struct objects *objects, enum objects_counter counter, uint64_t change)
{
	struct objects_cpu *own = percpu_this(&objects->cpu);
	uint64_t old = atomic_load_explicit(&own->count[counter], memory_order_relaxed);

	atomic_store_explicit(&own->count[counter], old + change, memory_order_relaxed);
}

/* Makes what a system's objects share. Returns it, or NULL when there is no memory. */
struct objects *objects_create(struct sf_system *system, struct frames *frames, const struct policy *policy,
			       const struct lock_nodes *lock_nodes);

/* Frees it; no object is left, and whoever destroyed one has waited by port_rcu_barrier(). NULL is allowed.
 */
void objects_destroy(struct objects *objects);

#endif
