/* SPDX-License-Identifier: MIT */
/*
 * The read-write semaphore: any number of readers or one writer, who may sleep while they hold it. Waiters
 * sleep in one queue and are served first come, first served, readers that stand together all at once; a
 * newcomer does not overtake the queue. So neither side starves, and a reader may not take it again.
 *
 * There are two implementations, chosen when the semaphore is made, as kernels have had them:
 *
 *   rwsem_spin_ops  a count and the queue under a spinning lock, taken by every operation
 *   rwsem_xadd_ops  one atomic add where nobody has to wait; the spinning lock only for the queue
 */
#ifndef SYNC_RWSEM_H
#define SYNC_RWSEM_H

#include "port/trace.h"
#include "sync/lock_nodes.h"
#include "sync/lock_rank.h"
#include "sync/spinlock.h"

struct rwsem;

struct rwsem_ops {
	void (*down_read)(struct rwsem *sem);
	bool (*down_read_trylock)(struct rwsem *sem);
	void (*up_read)(struct rwsem *sem);
	void (*down_write)(struct rwsem *sem);
	bool (*down_write_trylock)(struct rwsem *sem);
	void (*up_write)(struct rwsem *sem);
};

extern const struct rwsem_ops rwsem_spin_ops;
extern const struct rwsem_ops rwsem_xadd_ops;

/*
 * What changes and what is only read stand on two cache lines: an operation's first access to the line that
 * moves between CPUs is the one that takes it over. The wait_lock is not first: what names a lock is its
 * address.
 */
struct rwsem {
	CACHE_LINE_ALIGNED _Atomic uint64_t state; /* rwsem_xadd: see sync/rwsem_xadd.c */
	struct spinlock wait_lock;
	int32_t holders;            /* rwsem_spin: readers, or -1 for a writer (by wait_lock) */
	struct rwsem_waiter *first; /* the queue (by wait_lock) */
	struct rwsem_waiter **last; /* where the next one is hung up (by wait_lock) */
	/* Set by rwsem_init(). */
	CACHE_LINE_ALIGNED const struct rwsem_ops *ops;
	const struct lock_nodes *nodes;
	uint16_t rank; /* enum lock_rank */
};

/*
 * Makes a free semaphore of the class `rank` whose sleepers wait in `nodes`. No CPU may use it yet; and it
 * may not be moved afterwards.
 */
static inline void rwsem_init(struct rwsem *sem, const struct rwsem_ops *ops, enum lock_rank rank,
			      const struct lock_nodes *nodes)
{
	spin_lock_init(&sem->wait_lock, LOCK_RANK_RWSEM_WAIT);
	sem->holders = 0;
	atomic_init(&sem->state, 0);
	sem->first = NULL;
	sem->last = &sem->first;
	sem->ops = ops;
	sem->nodes = nodes;
	sem->rank = (uint16_t)rank;
}

/* Takes the semaphore with other readers. No spinning lock and no RCU read section may be held. */
static inline void down_read(struct rwsem *sem)
{
	lock_rank_may_sleep();
	lock_rank_take(sem, sem->rank, LOCK_SLEEPING, 0);
	sem->ops->down_read(sem);
	port_lock_acquired(sem, lock_class_name(&sem->rank), 1);
}

/*
 * Takes the semaphore with other readers if no writer holds it and nobody waits; returns whether it did.
 * Never sleeps, so anything may be held.
 */
static inline bool down_read_trylock(struct rwsem *sem)
{
	if (!sem->ops->down_read_trylock(sem))
		return false;
	lock_rank_take(sem, sem->rank, LOCK_SLEEPING, 1);
	port_lock_acquired(sem, lock_class_name(&sem->rank), 1);
	return true;
}

/* Releases the semaphore, which the caller's CPU holds as a reader. Never sleeps. */
static inline void up_read(struct rwsem *sem)
{
	lock_rank_release(sem, sem->rank);
	port_lock_released(sem, lock_class_name(&sem->rank), 1);
	sem->ops->up_read(sem);
}

/* Takes the semaphore alone. No spinning lock and no RCU read section may be held. */
static inline void down_write(struct rwsem *sem)
{
	lock_rank_may_sleep();
	lock_rank_take(sem, sem->rank, LOCK_SLEEPING, 0);
	sem->ops->down_write(sem);
	port_lock_acquired(sem, lock_class_name(&sem->rank), 0);
}

/* Takes the semaphore alone if it is free; returns whether it did. Never sleeps. */
static inline bool down_write_trylock(struct rwsem *sem)
{
	if (!sem->ops->down_write_trylock(sem))
		return false;
	lock_rank_take(sem, sem->rank, LOCK_SLEEPING, 1);
	port_lock_acquired(sem, lock_class_name(&sem->rank), 0);
	return true;
}

/* Releases the semaphore, which the caller's CPU holds as its writer. Never sleeps. */
static inline void up_write(struct rwsem *sem)
{
	lock_rank_release(sem, sem->rank);
	port_lock_released(sem, lock_class_name(&sem->rank), 0);
	sem->ops->up_write(sem);
}

#endif
