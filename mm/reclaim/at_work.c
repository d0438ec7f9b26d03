/* SPDX-License-Identifier: MIT */
/*
 * Who finds nothing to reclaim, since others have all of it isolated, waits until one of them has put it
 * back, or has freed it, and does not count that as a round in vain. They may also have done so between its
 * look at the lists and its look at them: so it adds itself to those who wait, and looks at the lists once
 * more. Who ends a round clears its word and then reads how many wait.
 *
 *     E1  put back                                     W1  waiters + 1; load ended
 *     E2  at_work = NULL                               W2  look at the lists
 *     E3  load waiters; if there are: ended + 1, wake  W3  load each at_work; if there is one, sleep
 *                                                      W4  load ended: have others ended since W1?
 *
 * All are sequentially consistent. If E3 sees the waiter, W4 sees that E3 has been; or else E1 comes before
 * W2, which has found what was put back. And W3 sees that the round is over, or E3 wakes who sleeps. A round
 * at work is never one that waits: so of all who are in vain at the same time the last is told so.
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
	atomic_fetch_add_explicit(&reclaim->ended, 1, memory_order_seq_cst);
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

uint32_t reclaim_wait_begin(struct reclaim *reclaim)
{
	atomic_fetch_add_explicit(&reclaim->waiters, 1, memory_order_seq_cst);
	return atomic_load_explicit(&reclaim->ended, memory_order_seq_cst);
}

bool reclaim_wait_for_others(struct reclaim *reclaim, const struct sf_group *top, uint32_t ended)
{
	/* The caller's own round has ended since, and was told as others' are. */
	ended++;
	while (any_at_work(reclaim, top) &&
	       atomic_load_explicit(&reclaim->ended, memory_order_seq_cst) == ended) {
		lock_rank_may_sleep();
		port_wait(&reclaim->ended, ended);
	}
	return atomic_load_explicit(&reclaim->ended, memory_order_seq_cst) != ended;
}

void reclaim_wait_end(struct reclaim *reclaim)
{
	atomic_fetch_sub_explicit(&reclaim->waiters, 1, memory_order_relaxed);
}
