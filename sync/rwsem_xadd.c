/* SPDX-License-Identifier: MIT */
/*
 * The read-write semaphore whose fast path is one atomic add.
 *
 * `state` says who holds it and whether anybody waits. A reader adds READER and looks at what was there: with
 * neither WRITER nor WAITERS it holds the semaphore. Otherwise its count is stray until it has the wait_lock,
 * under which it takes the count back and queues. A stray count can only keep others from taking the
 * semaphore, so whoever takes one back looks whether the queue can move: that is the rule for every change
 * that may leave WAITERS with no holder.
 *
 * Exclusion matrix (may the two run at once, and what keeps them right):
 *
 *                 fast take  fast release  queueing   passing on
 *   fast take       yes         yes          yes         yes: WAITERS sends the taker to the queue
 *   fast release                yes          yes         yes: compare-and-swap sees it, or it passes on
 * itself queueing                                 wait_lock   wait_lock passing on wait_lock
 *
 * Every change of `state` is a read-modify-write: a taker's acquire order, also that of who passes the
 * semaphore on to a sleeper, reaches back to the release of each holder before.
 */
#include "sync/rwsem.h"
#include "sync/rwsem_queue.h"

#define WRITER  UINT64_C(1)   /* a writer holds the semaphore */
#define WAITERS UINT64_C(2)   /* the queue is not empty; changed under wait_lock */
#define READER  UINT64_C(256) /* one reader that holds it, or a stray one */

/* Gives the semaphore to the head of the queue if that can have it now: one writer, or all readers there. */
static void pass_on_locked(struct rwsem *sem)
{
	uint64_t state = atomic_load_explicit(&sem->state, memory_order_relaxed);
	uint64_t taken, blockers, after;
	uint32_t count;

	if (!sem->first)
		return;
	if (sem->first->writes) {
		count = 1;
		taken = WRITER;
		blockers = ~WAITERS;
	} else {
		count = rwsem_queue_readers_locked(sem);
		taken = count * READER;
		blockers = WRITER;
	}
	do {
		if (state & blockers)
			return;
		after = state + taken;
		if (rwsem_queue_ends_after_locked(sem, count))
			after &= ~WAITERS;
	} while (!atomic_compare_exchange_weak_explicit(&sem->state, &state, after, memory_order_acquire,
							memory_order_relaxed));
	rwsem_queue_grant_locked(sem, count);
}

static void pass_on(struct rwsem *sem)
{
	spin_lock(&sem->wait_lock);
	pass_on_locked(sem);
	spin_unlock(&sem->wait_lock);
}

/*
 * Queues the calling CPU, which has no count in `state` any more, lets the queue move if it can, and sleeps
 * until the semaphore is the caller's. wait_lock is held, and released.
 */
static void wait_unlock(struct rwsem *sem, bool writes)
{
	struct rwsem_waiter *waiter = rwsem_queue_add_locked(sem, writes);

	atomic_fetch_or_explicit(&sem->state, WAITERS, memory_order_relaxed);
	pass_on_locked(sem);
	spin_unlock(&sem->wait_lock);
	rwsem_queue_sleep(waiter);
}

static void down_read_slow(struct rwsem *sem)
{
	port_lock_contended(sem, lock_class_name(&sem->rank), 1);
	spin_lock(&sem->wait_lock);
	/* All gone meanwhile? Then the count is an honest one: no writer can have come in while it stood. */
	if (!sem->first && !(atomic_load_explicit(&sem->state, memory_order_acquire) & WRITER)) {
		spin_unlock(&sem->wait_lock);
		return;
	}
	atomic_fetch_sub_explicit(&sem->state, READER, memory_order_relaxed);
	wait_unlock(sem, false);
}

static void rwsem_xadd_down_read(struct rwsem *sem)
{
	if (atomic_fetch_add_explicit(&sem->state, READER, memory_order_acquire) & (WRITER | WAITERS))
		down_read_slow(sem);
}

static bool rwsem_xadd_down_read_trylock(struct rwsem *sem)
{
	uint64_t state = atomic_load_explicit(&sem->state, memory_order_relaxed);

	do {
		if (state & (WRITER | WAITERS))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&sem->state, &state, state + READER,
							memory_order_acquire, memory_order_relaxed));
	return true;
}

static void rwsem_xadd_up_read(struct rwsem *sem)
{
	uint64_t after = atomic_fetch_sub_explicit(&sem->state, READER, memory_order_release) - READER;

	if (after == WAITERS)
		pass_on(sem);
}

static bool rwsem_xadd_down_write_trylock(struct rwsem *sem)
{
	uint64_t expected = 0;

	return atomic_compare_exchange_strong_explicit(&sem->state, &expected, WRITER, memory_order_acquire,
						       memory_order_relaxed);
}

static void rwsem_xadd_down_write(struct rwsem *sem)
{
	if (rwsem_xadd_down_write_trylock(sem))
		return;
	port_lock_contended(sem, lock_class_name(&sem->rank), 0);
	spin_lock(&sem->wait_lock);
	wait_unlock(sem, true);
}

static void rwsem_xadd_up_write(struct rwsem *sem)
{
	uint64_t after = atomic_fetch_sub_explicit(&sem->state, WRITER, memory_order_release) - WRITER;

	if (after & WAITERS)
		pass_on(sem);
}

const struct rwsem_ops rwsem_xadd_ops = {
    .down_read = rwsem_xadd_down_read,
    .down_read_trylock = rwsem_xadd_down_read_trylock,
    .up_read = rwsem_xadd_up_read,
    .down_write = rwsem_xadd_down_write,
    .down_write_trylock = rwsem_xadd_down_write_trylock,
    .up_write = rwsem_xadd_up_write,
};
