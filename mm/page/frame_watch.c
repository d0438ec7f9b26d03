/* SPDX-License-Identifier: MIT */
/*
 * Watching how many frames are free, without a number that all CPUs write: who watches gives each CPU a share
 * of what may be taken, by a word of the CPU's own, and is called when one has used it up. Then it looks, and
 * shares out again what is left: so it is called more often the less there is, and not at all while there is
 * enough.
 */
#include "mm/page/frame_watch.h"

#include "mm/page/frame_cache.h"
#include "port/cpu.h"
#include "port/wait.h"

void frames_call_watch(struct frames *frames, struct frame_counts *counts)
{
	/* Once for each share. Who watches shares out after it has reset the word, so it sees this call. */
	atomic_store_explicit(&counts->watch_at, 0, memory_order_relaxed);
	if (!atomic_exchange_explicit(&frames->watch_called, 1, memory_order_acq_rel))
		port_wake(&frames->watch_called, 1);
}

static void set_shares(struct frames *frames, bool on, int64_t share)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct frame_counts *counts = percpu_of(&frames->counts, cpu);
		int64_t at = frames_taken(counts) + share;

		atomic_store_explicit(&counts->watch_at, !on ? 0 : at ? at : -1, memory_order_relaxed);
	}
}

void frames_watch(struct frames *frames, uint64_t pages)
{
	set_shares(frames, true, (int64_t)(pages / port_cpu_count()));
}

void frames_watch_end(struct frames *frames)
{
	set_shares(frames, false, 0);
}

uint64_t frames_held_back(const struct frames *frames)
{
	return frames->ops->held_back(frames) * port_cpu_count();
}
