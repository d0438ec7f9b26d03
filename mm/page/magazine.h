/* SPDX-License-Identifier: MIT */
/*
 * Inside of the frame allocator: per-CPU magazines in front of one depot a node.
 *
 * A magazine is a chain of free frames, linked through their struct pages, so that it needs no memory of its
 * own. A CPU works on `loaded` and keeps `spare` beside it, which is full or empty: between two visits to a
 * depot there lies at least one full magazine of allocations or frees, whatever their pattern. Frames that
 * were never handed out travel as a number range, so that their struct pages are first touched by the CPU
 * that uses them.
 *
 * A frame that another node's CPU frees goes to that CPU's magazines: a depot's frames are those that its
 * node's CPUs gave back, not those that lie there.
 */
#ifndef MM_PAGE_MAGAZINE_H
#define MM_PAGE_MAGAZINE_H

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "sync/spinlock.h"

#define MAGAZINE_PAGES_MAX 64u

/* Used by its CPU alone. */
struct frame_cpu {
	CACHE_LINE_ALIGNED struct page *loaded;
	uint64_t loaded_count;
	struct page *spare;
	uint64_t spare_count;
	/* Frames never handed out: [fresh, fresh_end). */
	uint64_t fresh, fresh_end;
};

struct frame_depot {
	CACHE_LINE_ALIGNED struct spinlock lock;
	/* All protected by the lock. */
	struct page *magazines;
	uint64_t magazine_count;
	uint64_t fresh, fresh_end; /* the bump pointer over the node's frames that were never handed out */
	uint64_t first;            /* read only: the node's first frame */
};

#endif
