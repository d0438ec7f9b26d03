/* SPDX-License-Identifier: MIT */
/*
 * Reclaim that is ahead of who wants frames, from a low mark to a high one, on a CPU of its own.
 */
#include "mm/object/write_back.h"
#include "mm/reclaim/internal.h"
#include "port/rcu.h"
#include "port/wait.h"
#include "sync/lock_rank.h"

/* Pages of one turn; and of files' dirty pages that are written meanwhile. */
#define TURN_PAGES       128u
#define WRITE_BACK_PAGES 256u

/* Frees frames up to the high mark, or as long as any can be had. */
static void balance(struct reclaim *reclaim)
{
	reclaim_count(reclaim, RECLAIM_BACKGROUND, 1);
	while (frames_free_count(reclaim->config.frames) < reclaim->high &&
	       !atomic_load_explicit(&reclaim->stop, memory_order_relaxed)) {
		uint64_t written = objects_write_back(reclaim->config.objects, WRITE_BACK_PAGES);
		uint64_t taken = reclaim_pages(reclaim, NULL, TURN_PAGES);

		port_rcu_poll();
		if (!taken && !written)
			return;
	}
}

void reclaim_background(struct reclaim *reclaim)
{
	struct frames *frames = reclaim->config.frames;
	_Atomic uint32_t *called = &frames->watch_called;

	while (!atomic_load_explicit(&reclaim->stop, memory_order_acquire)) {
		uint64_t free;

		/* Before the shares: whoever uses up one of those calls again. */
		atomic_store_explicit(called, 0, memory_order_seq_cst);
		free = frames_free_count(frames);
		frames_watch(frames, free > reclaim->low ? free - reclaim->low : 0);
		if (free < reclaim->low) {
			balance(reclaim);
			/* More that is wanted comes by direct reclaim, and calls, as frames are taken. */
		}
		while (!atomic_load_explicit(called, memory_order_acquire) &&
		       !atomic_load_explicit(&reclaim->stop, memory_order_seq_cst)) {
			lock_rank_may_sleep();
			port_wait(called, 0);
		}
	}
	frames_watch_end(frames);
	atomic_store_explicit(&reclaim->stop, false, memory_order_relaxed);
}

void reclaim_background_stop(struct reclaim *reclaim)
{
	_Atomic uint32_t *called = &reclaim->config.frames->watch_called;

	atomic_store_explicit(&reclaim->stop, true, memory_order_seq_cst);
	atomic_store_explicit(called, 1, memory_order_seq_cst);
	port_wake(called, 1);
}
