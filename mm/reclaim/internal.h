/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/reclaim/.
 */
#ifndef MM_RECLAIM_INTERNAL_H
#define MM_RECLAIM_INTERNAL_H

#include <stdbool.h>

#include "base/compiler.h"
#include "mm/reclaim/reclaim.h"
#include "sync/percpu.h"

/* What each CPU counts: see struct sf_reclaim_statistics. */
enum reclaim_counter {
	RECLAIM_SCANNED,
	RECLAIM_RECLAIMED,
	RECLAIM_ACTIVATED,
	RECLAIM_DEACTIVATED,
	RECLAIM_VISITED,
	RECLAIM_SKIPPED,
	RECLAIM_DIRECT,
	RECLAIM_BACKGROUND,
	RECLAIM_COUNTERS
};

/* One CPU's own. The counts are read by anyone, relaxed. */
struct reclaim_cpu {
	CACHE_LINE_ALIGNED _Atomic uint64_t count[RECLAIM_COUNTERS];
	/*
	 * Where its last round has stopped: one more than the group's number (mm/charge/group_walk.h), at how
	 * many places it has been done, and how many pages of the next one were scanned.
	 */
	uint64_t group;
	unsigned step;
	uint64_t done;
	uint64_t scanned[RECLAIM_KINDS]; /* lately, of each kind */
	/* The top of the round that is under way, and may have pages isolated; NULL: none is. Written by the
	 * CPU, sequentially consistent; RCU. */
	struct sf_group *_Atomic at_work;
	_Atomic uint64_t round; /* its number; written by the CPU before at_work is */
};

struct reclaim {
	/* Read only. */
	CACHE_LINE_ALIGNED struct reclaim_config config;
	uint64_t low, high; /* marks of the background, in free frames */
	struct percpu cpu;  /* of struct reclaim_cpu */

	CACHE_LINE_ALIGNED _Atomic bool
	    stop; /* the background; sequentially consistent with frames->watch_called */

	/*
	 * How many wait for rounds of others; how often it was told that a round put back or freed what it
	 * had isolated, and that a round has ended: a word to sleep on. Read at each round's end; written
	 * when somebody waits. Sequentially consistent with at_work, see mm/reclaim/at_work.c.
	 */
	CACHE_LINE_ALIGNED _Atomic uint32_t waiters;
	_Atomic uint32_t put_back;
	_Atomic uint32_t ended;
};

/* A first pass scans a 64th of each list. */
#define SCAN_SHIFT 6u

/* Pages that wait for one grace period. */
#define ROUND_WAITING (2 * RECLAIM_BATCH)

/* One round of reclaim, on the reclaiming CPU's stack. */
struct round {
	struct reclaim *reclaim;
	struct sf_group *top;
	uint64_t target;
	unsigned shift; /* this pass scans 1 / 2^shift of each list */
	bool all;       /* touched pages too */
	bool spare_low; /* groups within their guarantee are passed over */
	bool spared;    /* some were */
	bool isolated;  /* some were taken off their lists */
	bool busy;      /* pages were in use: with other references, or an entry's lock was not to be had */
	bool swap_full;
	bool write_alone; /* dirty pages of files are written one by one, since nothing else helps */
	uint64_t freed;   /* pages */
	/* Objects' pages with the reference that is to be put after a grace period. */
	unsigned waiting;
	struct page *wait[ROUND_WAITING];
	uint64_t dirty; /* pages of files that have to be written first */
	/*
	 * With `holds`, a page that was locked or being written, as `held_flag` says, with a reference; NULL:
	 * there was none.
	 */
	bool holds;
	struct page *held;
	enum page_flag held_flag;
};

static inline bool round_is_over(const struct round *round)
{
	return round->freed >= round->target;
}

static inline void reclaim_count(struct reclaim *reclaim, enum reclaim_counter counter, uint64_t change)
{
	struct reclaim_cpu *own = percpu_this(&reclaim->cpu);
	uint64_t old = atomic_load_explicit(&own->count[counter], memory_order_relaxed);

	atomic_store_explicit(&own->count[counter], old + change, memory_order_relaxed);
}

/* Stand around all work with isolated pages: mm/reclaim/at_work.c. */
void reclaim_begin_work(const struct round *round);
void reclaim_end_work(const struct round *round);

/*
 * Before a second round, after one in which nothing could be had: others may have isolated what there was.
 * Returns a number for reclaim_wait_for_others(). Until reclaim_wait_end() each round that ends is told.
 */
uint32_t reclaim_wait_begin(struct reclaim *reclaim);
void reclaim_wait_end(struct reclaim *reclaim);

/*
 * After just one round of the caller's since reclaim_wait_begin(), `own`, in vain again: waits for the rounds
 * that others have under way in groups of its top or above it. Returns whether any has put back, or freed,
 * what it had isolated. Sleeps.
 */
bool reclaim_wait_for_others(const struct round *own, uint32_t put_back);

/*
 * Takes those of the pages that can be had: mm/reclaim/shrink.c. They are isolated, each with a reference,
 * which is put; what stays is on a list again.
 */
void shrink_pages(struct round *round, struct page **pages, unsigned count);

/* Waits for a grace period if objects' pages wait for one, and frees them. */
void round_free_waiting(struct round *round);

/* Makes up to RECLAIM_BATCH pages of an active list inactive, and forgets their touches. Returns how many it
 * looked at. */
unsigned shrink_active(struct round *round, struct sf_group *group, unsigned place, enum lru_list list);

/* Passes over the lists of all groups of the round, until it is over. */
void scan_groups(struct round *round);

#endif
