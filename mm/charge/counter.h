/* SPDX-License-Identifier: MIT */
/*
 * How many pages are charged to a group and to all groups below it. Counters form a tree; a charge counts at
 * its counter and at every one above, or nowhere. How, the policy `group_counter` says:
 *
 *   page_counter  one atomic word a level: look whether there is room, add, look whether that was too much
 *                 all the same, and take back if so                  mm/charge/page_counter.c
 *   res_counter   a number under a spinlock a level                  mm/charge/res_counter.c
 *
 * What has been charged successfully never exceeds a limit. With page_counter `usage` itself can do so for a
 * moment, while an attempt that is too much has been added and not been taken back; so another attempt at the
 * same time may be refused although it alone would have been within the limit.
 *
 * Exclusion: everything may run at the same time as everything else, but set_limit with set_limit of the same
 * counter. Part of the fault path, but for set_limit.
 */
#ifndef MM_CHARGE_COUNTER_H
#define MM_CHARGE_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "sync/spinlock.h"

/* In pages: no limit. */
#define COUNTER_UNLIMITED UINT64_MAX

struct counter {
	/*
	 * Read by every charge, seldom written. With res_counter all but the parent is changed under the
	 * lock; atomic in either case, since anybody may look.
	 */
	CACHE_LINE_ALIGNED struct counter *parent; /* read only; NULL: the topmost that counts */
	_Atomic uint64_t limit;                    /* pages */
	_Atomic uint64_t watermark;                /* the most that usage has been after a charge */
	_Atomic uint64_t failures;                 /* charges that this counter's own limit has refused */

	/* Written by every charge; as above. */
	CACHE_LINE_ALIGNED struct spinlock lock;
	_Atomic uint64_t usage; /* pages */
};

struct counter_ops {
	/*
	 * Charges `pages` to the counter and all above. Returns NULL; or the counter whose limit refuses,
	 * with nothing charged anywhere.
	 */
	struct counter *(*try_charge)(struct counter *counter, uint64_t pages);

	/*
	 * Takes a charge back, at the counter and all above, the lowest first. Afterwards read() of whoever
	 * comes later sees it; and who has stored something with sequential consistency before a read() that
	 * did not see it yet, will be seen by the caller's loads of that kind.
	 */
	void (*uncharge)(struct counter *counter, uint64_t pages);

	/* Returns the usage, ordered as said there. */
	uint64_t (*read)(struct counter *counter);

	/* Sets the limit. Returns 0, or -EBUSY with nothing changed while more than that is charged. */
	int (*set_limit)(struct counter *counter, uint64_t pages);
};

extern const struct counter_ops page_counter_ops;
extern const struct counter_ops res_counter_ops;

static inline void counter_init(struct counter *counter, struct counter *parent)
{
	counter->parent = parent;
	atomic_init(&counter->limit, COUNTER_UNLIMITED);
	spin_lock_init(&counter->lock, LOCK_RANK_RES_COUNTER);
	atomic_init(&counter->usage, 0);
	atomic_init(&counter->watermark, 0);
	atomic_init(&counter->failures, 0);
}

#endif
