/* SPDX-License-Identifier: MIT */
/*
 * What the tests of mm/page/ share: they need no system, so they run on the frames alone, with each frame
 * cache.
 */
#ifndef TESTS_UNIT_MM_FRAMES_FIXTURE_H
#define TESTS_UNIT_MM_FRAMES_FIXTURE_H

#include <errno.h>

#include "base/random.h"
#include "host/memory.h"
#include "mm/page/frames.h"
#include "tests/common/on_cpus.h"

static const enum policy_frame_cache all_frame_caches[] = {POLICY_FRAME_CACHE_MAGAZINE,
							   POLICY_FRAME_CACHE_ZONE};

/* Has `usable` frames that frame_alloc() can hand out. */
static inline struct frames *open_frames(enum policy_frame_cache cache, uint64_t usable)
{
	struct frames *frames =
	    frames_create(&(struct frames_config){.own_frames = usable + 1, .cache = cache});

	assert_non_null(frames);
	return frames;
}

static inline void assert_frames_good(struct frames *frames, uint64_t in_use)
{
	struct message why = {""};

	if (frames_check(frames, in_use, &why))
		fail_msg("%s", why.text);
}

/* Everything has come back. */
static inline void close_frames(struct frames *frames)
{
	assert_frames_good(frames, 0);
	frames_destroy(frames);
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

#endif
