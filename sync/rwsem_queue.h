/* SPDX-License-Identifier: MIT */
/*
 * The queue of a read-write semaphore's sleepers, for its two implementations. A sleeper is given the
 * semaphore by whoever takes it out of the queue: it owns the semaphore when it wakes and tries nothing
 * again.
 */
#ifndef SYNC_RWSEM_QUEUE_H
#define SYNC_RWSEM_QUEUE_H

#include "port/wait.h"
#include "sync/rwsem.h"

/* Puts the calling CPU at the end of the queue. wait_lock is held. */
static inline struct rwsem_waiter *rwsem_queue_add_locked(struct rwsem *sem, bool writes)
{
	struct lock_node_set *set = percpu_this(&sem->nodes->sets);
	struct rwsem_waiter *waiter = &set->rwsem;

	atomic_store_explicit(&waiter->granted, 0, memory_order_relaxed);
	waiter->writes = writes;
	waiter->next = NULL;
	*sem->last = waiter;
	sem->last = &waiter->next;
	return waiter;
}

/* How many readers stand together at the head of the queue. wait_lock is held. */
static inline uint32_t rwsem_queue_readers_locked(const struct rwsem *sem)
{
	uint32_t readers = 0;

	for (const struct rwsem_waiter *waiter = sem->first; waiter && !waiter->writes; waiter = waiter->next)
		readers++;
	return readers;
}

/* True if the queue is empty once `taken` waiters are gone from its head. wait_lock is held. */
static inline bool rwsem_queue_ends_after_locked(const struct rwsem *sem, uint32_t taken)
{
	const struct rwsem_waiter *waiter = sem->first;

	while (waiter && taken--)
		waiter = waiter->next;
	return !waiter;
}

/*
 * Takes `count` waiters from the head and wakes them; the semaphore counts them as holders already.
 * wait_lock is held.
 */
static inline void rwsem_queue_grant_locked(struct rwsem *sem, uint32_t count)
{
	while (count--) {
		struct rwsem_waiter *waiter = sem->first;

		sem->first = waiter->next;
		if (!sem->first)
			sem->last = &sem->first;
		/*
		 * From here on the waiter may be up and sleep elsewhere; a wake that comes late is one for no
		 * reason. Release order: it comes after all holders before, as the caller does.
		 */
		atomic_store_explicit(&waiter->granted, 1, memory_order_release);
		port_wake(&waiter->granted, 1);
	}
}

/* Sleeps until the semaphore has been given to `waiter`, the calling CPU's. wait_lock is not held. */
static inline void rwsem_queue_sleep(struct rwsem_waiter *waiter)
{
	while (!atomic_load_explicit(&waiter->granted, memory_order_acquire))
		port_wait(&waiter->granted, 0);
}

#endif
