/* SPDX-License-Identifier: MIT */
/*
 * The LRU lists: the pages in use that a reclaim can look at, those of each group apart.
 *
 * The lists stand at *places*, and a group has one struct lruvec at every place. What a place is, the policy
 * `lru_add` says:
 *
 *   zone_lock  a memory node, with one lock for all groups. A new page first waits in its CPU's pagevec; when
 *              14 wait, all are put on the lists of their nodes under the lock        mm/page/lru_zone.c
 *   per_cpu    a CPU: the pages that it added. Each group has a lock of its own there, which no other CPU
 *              takes but to take such a page away                                     mm/page/lru_per_cpu.c
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

/* Anonymous memory, and shared memory, which swap takes as well; then the pages that can go without swap:
 * those of files, and what MADV_FREE has left. */
enum lru_list {
	LRU_INACTIVE, /* looked at first */
	LRU_ACTIVE,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_LISTS
};

/* What makes a list the one of the other kind, of the other age. */
#define LRU_FILE      2u
#define LRU_BE_ACTIVE 1u

/* Pages are put on the lists, and released, so many at a time. */
#define PAGEVEC_SIZE 14u

/* One group's pages at one place. Protected by its lock. */
struct lruvec {
	CACHE_LINE_ALIGNED struct list list[LRU_LISTS]; /* the one added last first */
	/* Written under the lock; reclaim reads them without, relaxed, to see where there is something. */
	CACHE_LINE_ALIGNED _Atomic uint64_t pages[LRU_LISTS];
	struct spinlock *lock; /* read only: its own, or the place's */
	struct spinlock own_lock;
	/* For good: the group is gone, its pages here are in the lists of the one above. Atomic; set under
	 * both locks. */
	_Atomic bool moved;
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
	struct lru_place **place; /* `zone_lock`: [places] */
	struct percpu pagevecs;   /* `zone_lock`: of struct lru_pagevec */
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
 * to the group any more. Takes locks of rank LRU.
 */
void lru_group_reparent(struct lru *lru, struct page_group *group);

/*
 * Adds a page, which has a group, and which is on no list; a file's page, PG_file, to the file's list of the
 * age that `list` has. The caller has a reference, and nobody else can put the last. Takes locks of rank LRU.
 * Part of the fault path.
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
 * Isolation, for reclaim: a page that is taken from its list to be looked at. It keeps PG_lru, and its links
 * are not used, so whoever takes pages off the lists may come for it as if it was there: lru_del() then says
 * in page->lru_state that it is gone, and it does not come back. That matters for an object's page, whose
 * links are RCU's after that.
 *
 *   listed --isolate--> isolated --putback--> listed
 *                          +------lru_del---> gone --putback--> gone
 *
 * All of it happens under the lock of the lists. The pages of one array are best of one place and group.
 */

/*
 * Isolates up to `max` pages that have been longest on a group's list at a place, with a reference on each;
 * those that are about to be released are passed over. Returns how many. Takes a lock of rank LRU.
 */
unsigned lru_isolate(struct page_group *group, unsigned place, enum lru_list list, struct page **pages,
		     unsigned max);

/*
 * Isolates a page on which the caller has a reference; it is PG_uptodate or anonymous, so that it has been
 * added. Returns whether it was on a list: in a pagevec does not count. As lru_del().
 */
bool lru_isolate_page(struct lru_run *run, struct page *page);

/*
 * Puts an isolated page onto a list of its kind again, unless it is gone: at the front, where the newest are.
 * The caller's reference stays its own. As lru_del().
 */
void lru_putback(struct lru_run *run, struct page *page, bool active);

/*
 * A page has been marked PG_lazy_free, perhaps again: puts it among those that reclaim looks at without swap,
 * at the end that it looks at last, if it is not there. One that is isolated, or in another CPU's pagevec,
 * stays with its kind until it is marked the next time. The caller keeps its last reference from being put,
 * by the locked entry of a page table that maps it. Takes a lock of rank LRU.
 */
void lru_lazy_free(struct lru *lru, struct page *page);

/* As lru_putback(), of a page that is not lazily freed any more: with what swap takes. */
void lru_putback_swapped(struct lru_run *run, struct page *page, bool active);

/* The list that an isolated page was on. */
enum lru_list lru_isolated_from(const struct page *page);

/* How many pages are on a group's list at one place, or at all; a moment ago. Takes no lock. */
static inline uint64_t lru_pages_at(const struct page_group *group, unsigned place, enum lru_list list)
{
	return atomic_load_explicit(&group->lruvec[place]->pages[list], memory_order_relaxed);
}
uint64_t lru_pages(const struct lru *lru, const struct page_group *group, enum lru_list list);

/*
 * An object's page was used by other means than a page table: by offset, also when that has made it. Writes
 * to the page the first two times since reclaim looked at it. Part of the fault path.
 */
static inline void page_mark_accessed(struct page *page)
{
	if (!page_has_flag(page, PG_referenced))
		page_set_flag(page, PG_referenced);
	else if (!page_has_flag(page, PG_activate))
		page_set_flag(page, PG_activate);
}

/*
 * Checks a group's lists while nothing runs, and adds the number of pages there to *pages. Returns 0, or
 * -EINVAL with a message.
 */
int lru_group_check(struct lru *lru, struct page_group *group, uint64_t *pages, struct message *why);

/* Returns how many pages wait, while nothing runs. */
uint64_t lru_waiting(struct lru *lru);

#endif
