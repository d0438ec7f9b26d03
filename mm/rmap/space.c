/* SPDX-License-Identifier: MIT */
#include "mm/rmap/space.h"

#include "port/wait.h"
#include "sync/lock_rank.h"

/* In `batches`: somebody sleeps until there are none. */
#define WAITED (UINT32_C(1) << 31)

void rmap_space_init(struct rmap_space *space, struct table *table,
		     int (*may_unmap)(struct rmap_space *space, uintptr_t address))
{
	space->table = table;
	space->may_unmap = may_unmap;
	atomic_init(&space->batches, 0);
}

void rmap_space_get(struct rmap_space *space)
{
	atomic_fetch_add_explicit(&space->batches, 1, memory_order_relaxed);
}

void rmap_space_put(struct rmap_space *space)
{
	/* Release: the flush comes before the space's end. The word is not looked at after it. */
	if (atomic_fetch_sub_explicit(&space->batches, 1, memory_order_release) == (WAITED | 1))
		port_wake(&space->batches, UINT32_MAX);
}

void rmap_space_end(struct rmap_space *space)
{
	uint32_t batches;

	while ((batches = atomic_load_explicit(&space->batches, memory_order_acquire)) & ~WAITED) {
		if (!(batches & WAITED) &&
		    !atomic_compare_exchange_strong_explicit(&space->batches, &batches, batches | WAITED,
							     memory_order_relaxed, memory_order_relaxed))
			continue;
		lock_rank_may_sleep();
		port_wait(&space->batches, batches | WAITED);
	}
}
