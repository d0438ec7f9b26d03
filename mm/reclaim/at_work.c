/* SPDX-License-Identifier: MIT */
/*
 * Who finds nothing to reclaim, since others have all of it isolated, waits until they have put it back, or
 * have freed it, and does not count that as a round in vain. They may also have done so between its look at
 * the lists and its look at them: so it adds itself to those who wait, and looks at the lists once more.
 *
 *     E1  put back what was isolated                  W1  waiters + 1; load put_back
 *     E2  load waiters; if there are: put_back + 1    W2  look at the lists
 *     E3  at_work = NULL                              W3  load each at_work; sleep while one is the same
 * round E4  load waiters; if there are: ended + 1, wake W4  load put_back: has it changed since W1?
 *
 * All are sequentially consistent. If E2 does not see the waiter, E1 comes before W2, which has found what
 * was put back. If it does, W3 sees the round at work, and sleeps until E4; or W4 sees what E2 did. A round
 * that had nothing isolated tells nothing at E2: else those who are all in vain would tell each other for
 * ever. And a round at work is never one that waits; so each of them waits for one round of each CPU at most.
 */
#include "mm/reclaim/internal.h"
#include "port/cpu.h"
#include "port/rcu.h"
#include "port/wait.h"
#include "sync/lock_rank.h"

void reclaim_begin_work(const struct round *round)
{
	struct reclaim_cpu *own = percpu_this(&round->reclaim->cpu);

	/* Only this CPU changes it. */
	atomic_store_explicit(&own->round, atomic_load_explicit(&own->round, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&own->at_work, round->top, memory_order_seq_cst);
}

void reclaim_end_work(const struct round *round)
{
	struct reclaim *reclaim = round->reclaim;
	struct reclaim_cpu *own = percpu_this(&reclaim->cpu);

	if (round->isolated && atomic_load_explicit(&reclaim->waiters, memory_order_seq_cst))
		atomic_fetch_add_explicit(&reclaim->put_back, 1, memory_order_seq_cst);
	atomic_store_explicit(&own->at_work, NULL, memory_order_seq_cst);
	if (!atomic_load_explicit(&reclaim->waiters, memory_order_seq_cst))
		return;
	atomic_fetch_add_explicit(&reclaim->ended, 1, memory_order_seq_cst);
	port_wake(&reclaim->ended, UINT32_MAX);
}

/* A group whose structure was kept for a round is freed a grace period after that at the earliest. */
static bool is_at_work(const struct reclaim_cpu *cpu, const struct sf_group *top)
{
	const struct sf_group *other;
	bool at_work;

	port_rcu_read_lock();
	other = atomic_load_explicit(&cpu->at_work, memory_order_seq_cst);
	at_work = other && (group_is_below(other, top) || group_is_below(top, other));
	port_rcu_read_unlock();
	return at_work;
}

uint32_t reclaim_wait_begin(struct reclaim *reclaim)
{
	atomic_fetch_add_explicit(&reclaim->waiters, 1, memory_order_seq_cst);
	return atomic_load_explicit(&reclaim->put_back, memory_order_seq_cst);
}

/* Returns when the round that is under way on the CPU, if one is, has ended. */
static void wait_for_round(struct reclaim *reclaim, const struct reclaim_cpu *cpu, const struct sf_group *top)
{
	uint32_t ended = atomic_load_explicit(&reclaim->ended, memory_order_seq_cst);
	uint64_t number = atomic_load_explicit(&cpu->round, memory_order_acquire);

	while (is_at_work(cpu, top) && atomic_load_explicit(&cpu->round, memory_order_acquire) == number) {
		lock_rank_may_sleep();
		port_wait(&reclaim->ended, ended);
		ended = atomic_load_explicit(&reclaim->ended, memory_order_seq_cst);
	}
}

bool reclaim_wait_for_others(const struct round *own, uint32_t put_back)
{
	struct reclaim *reclaim = own->reclaim;

	/* The caller's own round has ended since, and was told as others' are. */
	put_back += own->isolated;
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		if (atomic_load_explicit(&reclaim->put_back, memory_order_seq_cst) != put_back)
			return true;
		wait_for_round(reclaim, percpu_of(&reclaim->cpu, cpu), own->top);
	}
	return atomic_load_explicit(&reclaim->put_back, memory_order_seq_cst) != put_back;
}

void reclaim_wait_end(struct reclaim *reclaim)
{
	atomic_fetch_sub_explicit(&reclaim->waiters, 1, memory_order_relaxed);
}
