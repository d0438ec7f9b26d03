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
 * numbers. They share a word, so that one read-modify-write draws and sees whether the turn has come already,
 * and a cache line, so that every arrival makes all waiters read it again: that is the lock which kernels had
 * until about 2015, and what its experiments measure.
 *
 * Who has the lock has seen, with acquire order, either by its draw or by its wait, the `owner` that the last
 * holder stored with release order.
 */
struct ticket {
	union {
		struct {
			_Atomic uint16_t owner; /* the lower half on this little-endian machine */
			_Atomic uint16_t next;
		};
		_Atomic uint32_t both;
	};
};

#define TICKET_NEXT_SHIFT 16

static inline void ticket_init(struct ticket *ticket)
{
	atomic_init(&ticket->both, 0);
}

/* Draws a number. Returns true if the lock is the caller's at once, else ticket_wait() is to be called. */
static inline bool ticket_draw(struct ticket *ticket, uint16_t *number)
{
	uint32_t drawn =
	    atomic_fetch_add_explicit(&ticket->both, 1u << TICKET_NEXT_SHIFT, memory_order_acquire);

	*number = (uint16_t)(drawn >> TICKET_NEXT_SHIFT);
	return (uint16_t)drawn == *number;
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

/* Takes the lock if it is free: no number is out that was not called. */
static inline bool ticket_trylock(struct ticket *ticket)
{
	uint32_t seen = atomic_load_explicit(&ticket->both, memory_order_relaxed);

	return (uint16_t)seen == seen >> TICKET_NEXT_SHIFT &&
	       atomic_compare_exchange_strong_explicit(&ticket->both, &seen, seen + (1u << TICKET_NEXT_SHIFT),
						       memory_order_acquire, memory_order_relaxed);
}

static inline void ticket_unlock(struct ticket *ticket)
{
	/* Only the holder writes `owner`. */
	uint16_t owner = atomic_load_explicit(&ticket->owner, memory_order_relaxed);

	atomic_store_explicit(&ticket->owner, (uint16_t)(owner + 1), memory_order_release);
}

#endif
