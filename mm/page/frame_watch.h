/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/page/: the part of watching that each allocation has. It reads lines of the calling CPU alone.
 */
#ifndef MM_PAGE_FRAME_WATCH_H
#define MM_PAGE_FRAME_WATCH_H

#include "base/compiler.h"
#include "mm/page/frames.h"

/* The CPU has used up its share. */
void frames_call_watch(struct frames *frames, struct frame_counts *counts);

/* How many more frames a CPU has handed out than taken back. */
static inline int64_t frames_taken(const struct frame_counts *counts)
{
	return atomic_load_explicit(&counts->count[FRAMES_ALLOCATED], memory_order_relaxed) -
	       atomic_load_explicit(&counts->count[FRAMES_FREED], memory_order_relaxed);
}

static inline void frames_look(struct frames *frames)
{
	struct frame_counts *counts = percpu_this(&frames->counts);
	int64_t at = atomic_load_explicit(&counts->watch_at, memory_order_relaxed);

	if (unlikely(at && frames_taken(counts) >= at))
		frames_call_watch(frames, counts);
}

#endif
