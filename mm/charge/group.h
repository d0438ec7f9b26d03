/* SPDX-License-Identifier: MIT */
/*
 * Memory groups: a tree, in which each group limits the pages that are charged to it and to all below it. A
 * space is in one group; what its faults make is charged to that group, and stays so until the page's end,
 * wherever the space goes.
 *
 * The life of a group: it is *live* from group_create() to group_destroy(), which wants it to have no live
 * child and no space. Then it is *offline*: nothing new is charged to it, its pages are in the LRU lists of
 * its parent, which counts them as it always did, and its name is gone. The structure itself stays, for the
 * pages that still point to it, until the last of them is uncharged; whoever does that hands it to RCU. So no
 * page is ever visited to be charged to somebody else.
 */
#ifndef MM_CHARGE_GROUP_H
#define MM_CHARGE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/charge/counter.h"
#include "mm/page/frames.h"
#include "mm/page/lru.h"
#include "mm/policy/policy.h"
#include "port/rcu.h"

struct release_batch;
struct sf_system;
struct stock_depot;
struct stock_ops;

/* The kinds of pages that reclaim weighs against each other: their lists' LRU_FILE, or not. */
enum reclaim_kind { RECLAIM_ANONYMOUS, RECLAIM_FILE, RECLAIM_KINDS };

struct sf_group {
	/* Read only after group_create(), but for what is marked. */
	CACHE_LINE_ALIGNED struct page_group pages; /* first: page->group points here */
	struct groups *groups;
	struct sf_group *parent; /* NULL: the root */
	uint64_t number;         /* later groups have higher ones; 1: the root */
	bool exempt;             /* the root, when it does not count */
	/* Set once, sequentially consistent. Read by who uncharges. */
	_Atomic bool offline;
	/* The soft guarantee: so many pages a reclaim leaves alone as long as it can. Relaxed. */
	_Atomic uint64_t low;

	struct counter memory;

	/* Atomic, relaxed; written when there is too little. */
	CACHE_LINE_ALIGNED _Atomic uint64_t limit_hits; /* charges that found no room below this limit */
	_Atomic uint64_t out_of_memory;                 /* those that failed for it in the end */
	/* mm/charge/workingset.h: pages that reclaim took; those that came back lately, by kind, as a cost.
	 */
	_Atomic uint64_t aged;
	_Atomic uint64_t cost[RECLAIM_KINDS];

	_Atomic bool released; /* whoever sets it hands the group to RCU */
	struct port_rcu_head rcu;
	/* All by group_tree_lock. */
	unsigned children, spaces;     /* live ones; those that are in it, of the root none */
	struct sf_group *next, **link; /* all groups of the system that still exist, the newest first */
	unsigned walkers;              /* mm/charge/group_walk.h: who keeps the structure */
	bool ended;                    /* it is to be freed; the last walker does it */
	/* The check's own. */
	uint64_t checked_own, checked_below;
};

struct reclaim;

struct groups {
	/* Read only. */
	CACHE_LINE_ALIGNED struct frames *frames;
	const struct counter_ops *counter;
	const struct release_batch *release;
	struct sf_group *root;
	const struct stock_ops *stock_ops;
	struct percpu stock;        /* of struct memcg_stock */
	struct stock_depot **depot; /* [nodes], for the policy `depot` */
	struct sf_system *system;   /* opaque here; set once by who made the groups */
	/*
	 * Set once, by mm/reclaim/: frees some pages that are charged to a group or below it, or, for NULL,
	 * any. Returns how many are free. When none could be had: -EAGAIN when others were reclaiming, or had
	 * one locked, or were writing it, and have gone on since; else a grace period has passed since, and
	 * it is -EBUSY when some were in use, or 0. Sleeps; nothing is held. Part of the fault path.
	 */
	struct reclaim *reclaim;
	int64_t (*make_room)(struct reclaim *reclaim, struct sf_group *group);

	CACHE_LINE_ALIGNED struct spinlock tree_lock;
	/* By tree_lock. */
	struct sf_group *all;
	uint64_t created; /* groups, ever */
};

/*
 * Makes the groups of a system, of which there is the root, and lets frames->groups point to them. Returns
 * them, or NULL. Not from the fault path, as everything here that is not said to be part of it.
 */
struct groups *groups_create(struct frames *frames, const struct policy *policy);

/* Frees them; only the root is left, nothing is charged, and no callback waits. NULL is allowed. */
void groups_destroy(struct groups *groups);

/* Whether there are groups beside the root that have not been destroyed. */
bool groups_any_live(struct groups *groups);

/* Makes a group without limit below `parent`, which is live. Returns it, or NULL without memory. */
struct sf_group *group_create(struct sf_group *parent);

/*
 * Ends a live group that is not the root. Returns 0; or -EBUSY, with nothing changed, while it has live
 * children or spaces.
 */
int group_destroy(struct sf_group *group);

/* Counts a space into a live group, or out. */
void group_add_space(struct sf_group *group);
void group_remove_space(struct sf_group *group);

/*
 * Sets a live group's limit, in pages. What CPUs have charged ahead is given back first. Returns 0; -EBUSY,
 * with nothing changed, while more than that is charged; -EINVAL for the root.
 */
int group_set_limit(struct sf_group *group, uint64_t pages);

static inline struct sf_group *group_of(struct page_group *pages)
{
	return container_of(pages, struct sf_group, pages);
}

/* Whether `group` is `above` or below it. */
static inline bool group_is_below(const struct sf_group *group, const struct sf_group *above)
{
	while (group && group != above)
		group = group->parent;
	return group != NULL;
}

/*
 * After charges of an offline group have been taken back: lets go of it, and of those above that are offline,
 * when that were the last. In the RCU read section in which the charges were taken back.
 */
void group_release_unused(struct sf_group *group);

/*
 * Checks while nothing runs that what each group counts is the pages that are charged to it and to those
 * below, and what CPUs have charged ahead; that nobody exceeds its limit; and the LRU lists. Returns 0, or
 * -EINVAL with the first thing found wrong.
 */
int groups_check(struct groups *groups, struct message *why);

#endif
