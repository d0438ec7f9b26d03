/* SPDX-License-Identifier: MIT */
/*
 * A reference count. It reaches zero once; who makes it zero owns the object alone. Too many references, one
 * from zero, or a put too many is a broken invariant.
 */
#ifndef SYNC_REFCOUNT_H
#define SYNC_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/panic.h"

/* Far above what code can hold, and as far below where the number would wrap around. */
#define REFCOUNT_MAX (UINT32_C(1) << 31)

/*
 * Every operation may run at the same time as every other.
 *
 * Taking orders nothing: the taker has reached the object by a lock, by RCU or by a reference it holds, and
 * that ordered it. Putting has release order, so that the putter's accesses come before the end, and acquire
 * order, so that the last putter's freeing comes after all of them.
 */
struct refcount {
	_Atomic uint32_t references;
};

/* Starts with `references` of them, all the caller's. No other CPU may see the object yet. */
static inline void refcount_init(struct refcount *count, uint32_t references)
{
	atomic_init(&count->references, references);
}

/* Takes a reference; the caller holds one already, or what keeps one alive. */
static inline void refcount_inc(struct refcount *count)
{
	uint32_t old = atomic_fetch_add_explicit(&count->references, 1, memory_order_relaxed);

	invariant(old != 0 && old < REFCOUNT_MAX);
}

/* Takes a reference unless there is none any more; returns whether it did. */
static inline bool refcount_inc_not_zero(struct refcount *count)
{
	uint32_t old = atomic_load_explicit(&count->references, memory_order_relaxed);

	do {
		if (old == 0)
			return false;
		invariant(old < REFCOUNT_MAX);
	} while (!atomic_compare_exchange_weak_explicit(&count->references, &old, old + 1,
							memory_order_relaxed, memory_order_relaxed));
	return true;
}

/* Puts a reference. Returns true to the one caller that put the last: the object is now its alone. */
static inline bool refcount_dec_and_test(struct refcount *count)
{
	uint32_t old = atomic_fetch_sub_explicit(&count->references, 1, memory_order_acq_rel);

	invariant(old != 0 && old <= REFCOUNT_MAX);
	return old == 1;
}

/* Returns how many references there were a moment ago. */
static inline uint32_t refcount_read(const struct refcount *count)
{
	return atomic_load_explicit(&count->references, memory_order_relaxed);
}

#endif
