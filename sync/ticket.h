/* SPDX-License-Identifier: MIT */
/*
 * A ticket lock without rank, name or trace: what the locks of this folder are built from. Other folders use
 * sync/spinlock.h.
 */
#ifndef SYNC_TICKET_H
#define SYNC_TICKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/spin.h"

/*
 * A taker draws `next` and waits until `owner` shows its number. Both wrap around; there are fewer CPUs than
 * numbers. They share a cache line, so every arrival makes all waiters read it again: that is the lock which
 * kernels had until about 2015, and what its experiments measure.
 *
 * `next` needs no order: a taker has the lock only once its load of `owner`, with acquire order, sees what
 * the last holder stored there with release order.
 */
struct ticket {
	_Atomic uint16_t next;
	_Atomic uint16_t owner;
};

static inline void ticket_init(struct ticket *ticket)
{
	atomic_init(&ticket->next, 0);
	atomic_init(&ticket->owner, 0);
}

/* Draws a number. Returns true if the lock is the caller's at once, else ticket_wait() is to be called. */
static inline bool ticket_draw(struct ticket *ticket, uint16_t *number)
{
	*number = atomic_fetch_add_explicit(&ticket->next, 1, memory_order_relaxed);
	return atomic_load_explicit(&ticket->owner, memory_order_acquire) == *number;
}

static inline void ticket_wait(struct ticket *ticket, uint16_t number)
{
	port_spin_until_u16(&ticket->owner, UINT16_MAX, number);
}

static inline void ticket_lock(struct ticket *ticket)
{
	uint16_t number;

	if (!ticket_draw(ticket, &number))
		ticket_wait(ticket, number);
}

/* Takes the lock if it is free. */
static inline bool ticket_trylock(struct ticket *ticket)
{
	/* `next` equal to this means that no number is out: every later one is drawn after ours. */
	uint16_t owner = atomic_load_explicit(&ticket->owner, memory_order_acquire);
	uint16_t expected = owner;

	return atomic_compare_exchange_strong_explicit(&ticket->next, &expected, (uint16_t)(owner + 1),
						       memory_order_acquire, memory_order_relaxed);
}

static inline void ticket_unlock(struct ticket *ticket)
{
	/* Only the holder writes `owner`. */
	uint16_t owner = atomic_load_explicit(&ticket->owner, memory_order_relaxed);

	atomic_store_explicit(&ticket->owner, (uint16_t)(owner + 1), memory_order_release);
}

#endif
