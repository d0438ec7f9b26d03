/* SPDX-License-Identifier: MIT */
/*
 * The spinning lock: a ticket lock, first come, first served. The holder may not sleep.
 */
#ifndef SYNC_SPINLOCK_H
#define SYNC_SPINLOCK_H

#include "port/trace.h"
#include "sync/lock_rank.h"
#include "sync/ticket.h"

struct spinlock {
	struct ticket ticket;
	uint16_t rank; /* enum lock_rank; set by spin_lock_init() */
};

/* Makes a free lock of the class `rank`. No CPU may use it yet. */
static inline void spin_lock_init(struct spinlock *lock, enum lock_rank rank)
{
	ticket_init(&lock->ticket);
	lock->rank = (uint16_t)rank;
}

/* Takes the lock, waiting for those that came before. Locks of lower ranks may be held. */
static inline void spin_lock(struct spinlock *lock)
{
	uint16_t number;

	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 0);
	/* Nothing reads the lock's line before the draw: the first access to it is the one that takes it
	 * over. */
	if (!ticket_draw(&lock->ticket, &number)) {
		port_lock_contended(lock, lock_class_name(&lock->rank), 0);
		ticket_wait(&lock->ticket, number);
	}
	port_lock_acquired(lock, lock_class_name(&lock->rank), 0);
}

/* Takes the lock if it is free, and returns whether it did. Locks of any rank may be held. */
static inline bool spin_trylock(struct spinlock *lock)
{
	if (!ticket_trylock(&lock->ticket))
		return false;
	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 1);
	port_lock_acquired(lock, lock_class_name(&lock->rank), 0);
	return true;
}

/* Releases the lock, which the caller's CPU holds. Locks may be released in any order. */
static inline void spin_unlock(struct spinlock *lock)
{
	lock_rank_release(lock, lock->rank);
	port_lock_released(lock, lock_class_name(&lock->rank), 0);
	ticket_unlock(&lock->ticket);
}

#endif
