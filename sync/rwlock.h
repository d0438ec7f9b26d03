/* SPDX-License-Identifier: MIT */
/*
 * The spinning reader/writer lock: any number of readers or one writer. Whoever has to wait does so in one
 * queue, first come, first served, so neither side starves. Holders may not sleep, and a reader may not take
 * the lock again.
 */
#ifndef SYNC_RWLOCK_H
#define SYNC_RWLOCK_H

#include "port/trace.h"
#include "sync/lock_rank.h"
#include "sync/ticket.h"

#define RWLOCK_WRITER  UINT32_C(1) /* a writer holds the lock */
#define RWLOCK_WAITING UINT32_C(2) /* a writer is the first of the queue: no new reader gets in */
#define RWLOCK_READER  UINT32_C(4) /* one reader that holds it, or that finds out that it may not */

/*
 * Exclusion matrix:
 *
 *            reader  writer
 *   reader    yes     no
 *   writer    no      no
 *
 * All changes of `state` are read-modify-writes, so a taker's acquire order reaches back to the release of
 * every holder before it, also over a reader's count that came between.
 */
struct rwlock {
	_Atomic uint32_t state;
	struct ticket queue; /* held by the one waiter that watches `state` */
	uint16_t rank;       /* enum lock_rank; set by rwlock_init() */
};

/* Makes a free lock of the class `rank`. No CPU may use it yet. */
static inline void rwlock_init(struct rwlock *lock, enum lock_rank rank)
{
	atomic_init(&lock->state, 0);
	ticket_init(&lock->queue);
	lock->rank = (uint16_t)rank;
}

static inline void rwlock_read_wait(struct rwlock *lock)
{
	/* Out again: the writer before us waits for all readers' counts to go. */
	atomic_fetch_sub_explicit(&lock->state, RWLOCK_READER, memory_order_relaxed);
	ticket_lock(&lock->queue);
	/* We are first: no writer waits, and none can come in while our count stands. One may be in. */
	atomic_fetch_add_explicit(&lock->state, RWLOCK_READER, memory_order_relaxed);
	port_spin_until_u32(&lock->state, RWLOCK_WRITER, 0);
	ticket_unlock(&lock->queue);
}

/* Takes the lock with other readers. Locks of lower ranks may be held. */
static inline void read_lock(struct rwlock *lock)
{
	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 0);
	if (atomic_fetch_add_explicit(&lock->state, RWLOCK_READER, memory_order_acquire) &
	    (RWLOCK_WRITER | RWLOCK_WAITING)) {
		port_lock_contended(lock, lock_class_name(&lock->rank), 1);
		rwlock_read_wait(lock);
	}
	port_lock_acquired(lock, lock_class_name(&lock->rank), 1);
}

/* Takes the lock with other readers if no writer holds it or is to be next; returns whether it did. */
static inline bool read_trylock(struct rwlock *lock)
{
	uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);

	do {
		if (state & (RWLOCK_WRITER | RWLOCK_WAITING))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&lock->state, &state, state + RWLOCK_READER,
							memory_order_acquire, memory_order_relaxed));
	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 1);
	port_lock_acquired(lock, lock_class_name(&lock->rank), 1);
	return true;
}

/* Releases the lock, which the caller's CPU holds as a reader. */
static inline void read_unlock(struct rwlock *lock)
{
	lock_rank_release(lock, lock->rank);
	port_lock_released(lock, lock_class_name(&lock->rank), 1);
	atomic_fetch_sub_explicit(&lock->state, RWLOCK_READER, memory_order_release);
}

static inline void rwlock_write_wait(struct rwlock *lock)
{
	uint32_t expected;

	ticket_lock(&lock->queue);
	atomic_fetch_or_explicit(&lock->state, RWLOCK_WAITING, memory_order_relaxed);
	/* A reader that tries may come between the look and the swap, and goes away again. */
	do {
		port_spin_until_u32(&lock->state, UINT32_MAX, RWLOCK_WAITING);
		expected = RWLOCK_WAITING;
	} while (!atomic_compare_exchange_weak_explicit(&lock->state, &expected, RWLOCK_WRITER,
							memory_order_acquire, memory_order_relaxed));
	ticket_unlock(&lock->queue);
}

/* Takes the lock alone. Locks of lower ranks may be held. */
static inline void write_lock(struct rwlock *lock)
{
	uint32_t expected = 0;

	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 0);
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &expected, RWLOCK_WRITER,
						     memory_order_acquire, memory_order_relaxed)) {
		port_lock_contended(lock, lock_class_name(&lock->rank), 0);
		rwlock_write_wait(lock);
	}
	port_lock_acquired(lock, lock_class_name(&lock->rank), 0);
}

/* Takes the lock alone if it is free; returns whether it did. */
static inline bool write_trylock(struct rwlock *lock)
{
	uint32_t expected = 0;

	if (!atomic_compare_exchange_strong_explicit(&lock->state, &expected, RWLOCK_WRITER,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 1);
	port_lock_acquired(lock, lock_class_name(&lock->rank), 0);
	return true;
}

/* Releases the lock, which the caller's CPU holds as its writer. */
static inline void write_unlock(struct rwlock *lock)
{
	lock_rank_release(lock, lock->rank);
	port_lock_released(lock, lock_class_name(&lock->rank), 0);
	atomic_fetch_sub_explicit(&lock->state, RWLOCK_WRITER, memory_order_release);
}

#endif
