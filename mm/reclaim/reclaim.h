/* SPDX-License-Identifier: MIT */
/*
 * Reclaim: takes pages that nobody has touched for a while away from who has them, so that others can have
 * their frames, or their room in a group.
 *
 *   direct       a fault, or another call, has found no frame or no room: it drops all it holds, reclaims on
 *                its own CPU, and starts again (reclaim_make_room())
 *   of a group   the same below a limit; and when a limit is lowered (reclaim_pages())
 *   background   one loop of a system, from a low mark of free frames to a high one (reclaim_background())
 *
 * Pages stand on the lists of mm/page/lru.h: inactive and active, of anonymous memory (shared memory with it)
 * and of files, of each group at each place. A round isolates up to RECLAIM_BATCH pages of one inactive list
 * into an array, looks at each, unmaps and writes those that were not touched, and puts back what stays.
 * A page is taken from the active list to the inactive one when that is the shorter; there it has until it
 * reaches the end to be touched again: then it is active again.
 *
 * How much of either kind is looked at depends on what came back after it was taken (mm/charge/workingset.h).
 * Groups that use no more than their low guarantee are passed over while anything else can be had.
 *
 * Never taken: pages that are locked in memory (VM_LOCKED), pinned, being written, or locked by others; and
 * anonymous ones when swap is full, or their slot cannot be written.
 *
 * Nothing here allocates. All but reclaim_create() and reclaim_destroy() may be part of the fault path.
 */
#ifndef MM_RECLAIM_RECLAIM_H
#define MM_RECLAIM_RECLAIM_H

#include <stdint.h>

#include "mm/charge/charge.h"
#include "mm/page/frames.h"
#include "mm/policy/policy.h"

struct objects;
struct reclaim;
struct rmap;
struct sf_reclaim_statistics;
struct swap;

/* Pages that are looked at together: one flush for each space, one transfer for neighbouring slots. */
#define RECLAIM_BATCH 32u

struct reclaim_config {
	struct frames *frames;
	struct groups *groups; /* groups->make_room becomes reclaim's */
	struct swap *swap;
	struct rmap *rmap;
	struct objects *objects;
};

/* Makes the reclaim of a system. Returns it, or NULL without memory. Not from the fault path. */
struct reclaim *reclaim_create(const struct reclaim_config *config);

/* Frees it; nobody reclaims any more. NULL is allowed. Not from the fault path. */
void reclaim_destroy(struct reclaim *reclaim);

/*
 * Takes pages of `group` and the groups below it, or with NULL of all, until `target` pages (1 or more) are
 * free, or nothing more can be had. Returns how many; it can be more. May wait for a grace period.
 * Sleeps; nothing is held, not in an RCU read section; the caller keeps the group live.
 */
uint64_t reclaim_pages(struct reclaim *reclaim, struct sf_group *group, uint64_t target);

/*
 * Takes just these pages, touched or not, as MADV_PAGEOUT does; up to RECLAIM_BATCH of them. The caller has
 * one reference on each, which is put here. Returns how many are free then. As reclaim_pages().
 */
unsigned reclaim_page_list(struct reclaim *reclaim, struct page **pages, unsigned count);

/*
 * Reclaims in the background, whenever fewer frames than the low mark are free until the high mark is
 * reached, until reclaim_background_stop(). One caller at a time. Sleeps in between, woken by who takes
 * frames. Nothing is held.
 */
void reclaim_background(struct reclaim *reclaim);

/* Lets reclaim_background() return, now or when it is called the next time. Any CPU; takes no lock. */
void reclaim_background_stop(struct reclaim *reclaim);

/* Sums over all CPUs; while they run, of a moment that each has passed. */
void reclaim_statistics(const struct reclaim *reclaim, struct sf_reclaim_statistics *statistics);

#endif
