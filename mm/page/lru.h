/* SPDX-License-Identifier: MIT */
/*
 * The LRU lists: the pages in use that a reclaim can look at, those of each group apart.
 *
 * The lists stand at *places*, each with one lock, and a group has one struct lruvec at every place. What a
 * place is, the policy `lru_add` says:
 *
 *   zone_lock  a memory node. A new page first waits in its CPU's pagevec; when 14 wait, all are put on the
 *              lists of their nodes under the lock                                    mm/page/lru_zone.c
 *   per_cpu    a CPU: the pages that it added. No other CPU takes its lock, but to take such a page away
 *                                                                                     mm/page/lru_per_cpu.c
 *
 * The lists hold no references. So a page on a list can be one whose last reference has just been put, by a
 * CPU that is about to take it off.
 */
#ifndef MM_PAGE_LRU_H
#define MM_PAGE_LRU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/message.h"
#include "mm/page/page.h"
#include "mm/policy/policy.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

struct frames;
struct lru_ops;

enum lru_list {
	LRU_INACTIVE, /* looked at first */
	LRU_ACTIVE,
	LRU_LISTS
};

/* Pages are put on the lists, and released, so many at a time. */
#define PAGEVEC_SIZE 14u

/* One group's pages at one place. Protected by the place's lock. */
struct lruvec {
	CACHE_LINE_ALIGNED struct list list[LRU_LISTS]; /* the one added last first */
	uint64_t pages[LRU_LISTS];
	bool moved; /* for good: the group is gone, its pages here are in the lists of the one above */
};

/* What page->group points to; the group's own structure begins with it. Read only, but for the lists. */
struct page_group {
	struct page_group *parent; /* NULL: the root */
	struct lruvec **lruvec;    /* [lru->places] */
};

struct lru_place {
	CACHE_LINE_ALIGNED struct spinlock lock;
};

struct lru {
	/* All of it is read only. */
	const struct lru_ops *ops;
	struct frames *frames;
	unsigned places;
	struct lru_place **place;
	struct percpu pagevecs; /* `zone_lock`: of struct lru_pagevec */
};

/* Makes the places of a system. Returns them, or NULL. Not from the fault path. */
struct lru *lru_create(struct frames *frames, enum policy_lru_add policy);

/* Frees them; no page is on a list. NULL is allowed. */
void lru_destroy(struct lru *lru);

/*
 * Makes a group's lists, empty. Returns 0, or -ENOMEM with nothing kept. Frees them, when no page is there.
 * Not from the fault path.
 */
int lru_group_init(struct lru *lru, struct page_group *group, struct page_group *parent);
void lru_group_free(struct lru *lru, struct page_group *group);

/*
 * Moves a group's pages to its parent's lists, for good; page->group goes on naming the group. None is added
 * to the group any more. Takes every lock of rank LRU in turn.
 */
void lru_group_reparent(struct lru *lru, struct page_group *group);

/*
 * Adds a page, which has a group, and which is on no list. The caller has a reference, and nobody else can
 * put the last. Takes locks of rank LRU. Part of the fault path.
 */
void lru_add(struct lru *lru, struct page *page, enum lru_list list);

/* Puts the pages on the lists that the calling CPU has added and that still wait. Part of the fault path. */
void lru_add_drain(struct lru *lru);

/*
 * Takes pages off the lists, one after the other, with a lock that is kept from one to the next as long as it
 * is the right one. Between begin and end no lock of a rank from LRU on is taken. PG_lru is set, and stays so
 * until the caller clears it. Nobody else takes them off: a page's last reference is gone; or the caller has
 * the one that was the object's until it took the page out of the index. Part of the fault path.
 */
struct lru_run {
	struct lru *lru;
	struct spinlock *lock; /* held; NULL: none yet */
};

static inline void lru_run_begin(struct lru_run *run, struct lru *lru)
{
	*run = (struct lru_run){.lru = lru};
}
void lru_del(struct lru_run *run, struct page *page);
void lru_run_end(struct lru_run *run);

/* One page by itself. */
void lru_del_page(struct lru *lru, struct page *page);

/*
 * Checks a group's lists while nothing runs, and adds the number of pages there to *pages. Returns 0, or
 * -EINVAL with a message.
 */
int lru_group_check(struct lru *lru, struct page_group *group, uint64_t *pages, struct message *why);

/* Returns how many pages wait, while nothing runs. */
uint64_t lru_waiting(struct lru *lru);

#endif
