/* SPDX-License-Identifier: MIT */
/*
 * A sequence count: readers of a few fields write nothing, and look again when a writer came between. The
 * fields are relaxed atomics. What a reader finds may be thrown away, so it follows no pointer before
 * seqcount_read_retry() has said that it need not, unless RCU keeps the object.
 *
 * Exclusion matrix:
 *
 *            reader  writer
 *   reader    yes    yes: the reader retries
 *   writer    yes    no: the writers' own lock
 */
#ifndef SYNC_SEQCOUNT_H
#define SYNC_SEQCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/spin.h"

struct seqcount {
	_Atomic uint32_t sequence; /* odd while a writer is in; written under the writers' lock */
};

static inline void seqcount_init(struct seqcount *count)
{
	atomic_init(&count->sequence, 0);
}

/*
 * Begins a read: waits until no writer is in and returns the sequence to hand to seqcount_read_retry(). Its
 * acquire order puts the reads of the fields after it.
 */
static inline uint32_t seqcount_read_begin(const struct seqcount *count)
{
	return port_spin_until_u32(&count->sequence, 1, 0);
}

/* As seqcount_read_begin(), but does not wait: an odd sequence makes the retry come out true. */
static inline uint32_t seqcount_read_peek(const struct seqcount *count)
{
	return atomic_load_explicit(&count->sequence, memory_order_acquire);
}

/*
 * Returns true if a writer was in at any time since `sequence` was read; then what was read is worth nothing.
 * The fence puts the reads of the fields before the second look.
 */
static inline bool seqcount_read_retry(const struct seqcount *count, uint32_t sequence)
{
	atomic_thread_fence(memory_order_acquire);
	return (sequence & 1) || atomic_load_explicit(&count->sequence, memory_order_relaxed) != sequence;
}

/* Begins a write. The fence puts the odd sequence before the stores to the fields. The writers' lock is held.
 */
static inline void seqcount_write_begin(struct seqcount *count)
{
	uint32_t sequence = atomic_load_explicit(&count->sequence, memory_order_relaxed);

	atomic_store_explicit(&count->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

/* Ends a write. The release order puts the stores to the fields before the even sequence. */
static inline void seqcount_write_end(struct seqcount *count)
{
	uint32_t sequence = atomic_load_explicit(&count->sequence, memory_order_relaxed);

	atomic_store_explicit(&count->sequence, sequence + 1, memory_order_release);
}

#endif
