/* SPDX-License-Identifier: MIT */
/*
 * How much memory waits for grace periods. Who hands objects to port_rcu_call() has one count for each CPU:
 * that CPU adds to it what it hands over and takes from it what it frees, which can be another's; so only
 * sums over all CPUs mean something.
 */
#ifndef SYNC_RETIRED_H
#define SYNC_RETIRED_H

#include <stdatomic.h>
#include <stdint.h>

/* Written by its CPU alone; read by anyone. */
struct retired_count {
	_Atomic int64_t bytes;
	_Atomic int64_t peak; /* the most that `bytes` ever was */
};

/*
 * Adds what was handed over to the calling CPU's count, or with a negative number what was freed. Release:
 * who sees the bytes sees a peak that is as high.
 */
static inline void retired_change(struct retired_count *count, int64_t bytes)
{
	int64_t now = atomic_load_explicit(&count->bytes, memory_order_relaxed) + bytes;

	if (now > atomic_load_explicit(&count->peak, memory_order_relaxed))
		atomic_store_explicit(&count->peak, now, memory_order_relaxed);
	atomic_store_explicit(&count->bytes, now, memory_order_release);
}

/* Adds one CPU's count to the sums. The sum of peaks is never less than the peak of the sum. */
static inline void retired_sum(const struct retired_count *count, int64_t *bytes, int64_t *peak)
{
	*bytes += atomic_load_explicit(&count->bytes, memory_order_acquire);
	*peak += atomic_load_explicit(&count->peak, memory_order_relaxed);
}

#endif
