/* SPDX-License-Identifier: MIT */
/*
 * Who finds nothing to reclaim, since others have all of it isolated, waits until one of them has put it
 * back, or has freed it, and does not count that as a round in vain. Who ends a round clears its word and
 * then reads how many wait; who waits adds itself and then reads the words of all CPUs:
 *
 *     E1  at_work = NULL                               W1  waiters + 1
 *     E2  load waiters; if there are: ended + 1, wake  W2  load each at_work; sleep if there is one
 *
 * All are sequentially consistent, so E2 sees the waiter, or W2 sees that the round is over. A round at work
 * is never one that waits: so of all who are in vain at the same time the last is told so.
 */
#include "mm/reclaim/internal.h"
#include "port/cpu.h"
#include "port/rcu.h"
#include "port/wait.h"
#include "sync/lock_rank.h"

void reclaim_begin_work(struct reclaim *reclaim, struct sf_group *top)
{
	struct reclaim_cpu *own = percpu_this(&reclaim->cpu);

	atomic_store_explicit(&own->at_work, top, memory_order_seq_cst);
}

void reclaim_end_work(struct reclaim *reclaim)
{
	struct reclaim_cpu *own = percpu_this(&reclaim->cpu);

	atomic_store_explicit(&own->at_work, NULL, memory_order_seq_cst);
	if (!atomic_load_explicit(&reclaim->waiters, memory_order_seq_cst))
		return;
	atomic_fetch_add_explicit(&reclaim->ended, 1, memory_order_release);
	port_wake(&reclaim->ended, UINT32_MAX);
}

/* A group whose structure was kept for a round is freed a grace period after that at the earliest. */
static bool any_at_work(const struct reclaim *reclaim, const struct sf_group *top)
{
	bool any = false;

	port_rcu_read_lock();
	for (unsigned cpu = 0; cpu < port_cpu_count() && !any; cpu++) {
		const struct reclaim_cpu *counts = percpu_of(&reclaim->cpu, cpu);
		const struct sf_group *other = atomic_load_explicit(&counts->at_work, memory_order_seq_cst);

		any = other && (group_is_below(other, top) || group_is_below(top, other));
	}
	port_rcu_read_unlock();
	return any;
}

bool reclaim_wait_for_others(struct reclaim *reclaim, const struct sf_group *top)
{
	uint32_t ended = atomic_load_explicit(&reclaim->ended, memory_order_acquire);
	bool others;

	atomic_fetch_add_explicit(&reclaim->waiters, 1, memory_order_seq_cst);
	others = any_at_work(reclaim, top);
	while (others && atomic_load_explicit(&reclaim->ended, memory_order_acquire) == ended) {
		lock_rank_may_sleep();
		port_wait(&reclaim->ended, ended);
	}
	atomic_fetch_sub_explicit(&reclaim->waiters, 1, memory_order_relaxed);
	return others;
}
