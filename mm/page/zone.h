/* SPDX-License-Identifier: MIT */
/*
 * The frame cache `zone`: how Linux 2.6.33 shares the frames of a node (mm/page_alloc.c, functions of the
 * same names). Each CPU has, for each zone, a list of free frames. An empty list is filled with a batch of
 * frames from the zone's buddy allocator, a list as long as `high` gives a batch back; both under the one
 * lock of the zone, frame by frame, with all splitting and joining of blocks.
 *
 * What that kernel has besides and does not matter for single frames of one kind is left out: kinds of
 * mobility (their room is kept, see struct free_area), larger orders, watermarks and their counters.
 */
#ifndef MM_PAGE_ZONE_H
#define MM_PAGE_ZONE_H

#include "base/compiler.h"
#include "base/list.h"
#include "mm/page/buddy.h"
#include "mm/page/frames.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

/* One CPU's list of one zone's frames, the one freed last first. Used by that CPU alone. */
struct per_cpu_pages {
	CACHE_LINE_ALIGNED struct list pages;
	unsigned count;
};

struct zone {
	/* Read only. */
	CACHE_LINE_ALIGNED unsigned node;
	unsigned batch, high;
	CACHE_LINE_ALIGNED struct spinlock lock;
	/* Protected by the lock. */
	struct buddy buddy;
};

struct zones {
	/* All of it is read only. */
	struct zone **zone;    /* [nodes] */
	struct percpu pageset; /* of struct per_cpu_pages[nodes] */
};

#endif
