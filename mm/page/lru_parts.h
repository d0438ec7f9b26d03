/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/page/: what a choice of `lru_add` is, and what page->lru_state says.
 */
#ifndef MM_PAGE_LRU_PARTS_H
#define MM_PAGE_LRU_PARTS_H

#include "mm/page/lru.h"

struct lru_ops {
	unsigned (*places)(void);
	unsigned (*place_node)(unsigned place);
	/* The choice's own. Returns 0, or -ENOMEM. */
	int (*create)(struct lru *lru);
	/* Frees that; it may be half made. */
	void (*destroy)(struct lru *lru);
	void (*add)(struct lru *lru, struct page *page, enum lru_list list);
	void (*drain)(struct lru *lru);
	uint64_t (*waiting)(struct lru *lru);
};

extern const struct lru_ops lru_zone_ops;
extern const struct lru_ops lru_per_cpu_ops;

/*
 * page->lru_state of a page with PG_lru: on a list, in a slot of a CPU's pagevec, isolated from a list, or
 * gone for good. It goes from waiting to listed under the lock of the lists, and all further so.
 */
#define LRU_STATE_WAITS    (UINT32_C(1) << 31)
#define LRU_STATE_ISOLATED (UINT32_C(1) << 30) /* of a page that does not wait */
#define LRU_STATE_GONE     (UINT32_C(1) << 29) /* of one that does not wait */
#define LRU_STATE_LIST     UINT32_C(3)
#define LRU_PLACE_SHIFT    2 /* of one that does not wait */
#define LRU_PLACE_MASK     ((UINT32_C(1) << 27) - 1)
#define LRU_SLOT_SHIFT     2 /* of one that waits: four bits, then the CPU */
#define LRU_SLOT_MASK      UINT32_C(15)
#define LRU_SLOT_CPU_SHIFT 6

static inline uint32_t lru_state_listed(unsigned place, enum lru_list list)
{
	return place << LRU_PLACE_SHIFT | (uint32_t)list;
}

static inline unsigned lru_state_place(uint32_t state)
{
	return state >> LRU_PLACE_SHIFT & LRU_PLACE_MASK;
}

static inline uint32_t lru_state_waits(unsigned cpu, unsigned slot, enum lru_list list)
{
	return LRU_STATE_WAITS | cpu << LRU_SLOT_CPU_SHIFT | slot << LRU_SLOT_SHIFT | (uint32_t)list;
}

/* Changes what a list counts. The lock is held. */
static inline void lru_count(struct lruvec *lruvec, enum lru_list list, int64_t change)
{
	uint64_t old = atomic_load_explicit(&lruvec->pages[list], memory_order_relaxed);

	atomic_store_explicit(&lruvec->pages[list], old + (uint64_t)change, memory_order_relaxed);
}

/* Where the pages of `group` are, as long as nobody moves them. */
static inline struct lruvec *lruvec_of(const struct page_group *group, unsigned place)
{
	while (unlikely(atomic_load_explicit(&group->lruvec[place]->moved, memory_order_acquire)))
		group = group->parent;
	return group->lruvec[place];
}

/* Takes a lock of the lists into `run`, which may have it. */
static inline void lru_run_take(struct lru_run *run, struct spinlock *lock)
{
	if (run->lock == lock)
		return;
	lru_run_end(run);
	run->lock = lock;
	spin_lock(lock);
}

/* As lruvec_of(), and takes the lock. */
struct lruvec *lru_run_lock_at(struct lru_run *run, const struct page_group *group, unsigned place);

/*
 * Takes the lock of the lists where a page is, or where it is coming to. Returns them; or NULL when the page
 * waited and was taken out of its pagevec.
 */
struct lruvec *lru_run_lock(struct lru_run *run, struct page *page);

/* Puts a page on a list at `place`: its group's, whose lock is held. */
void lru_list_page(struct lruvec *lruvec, struct page *page, unsigned place, enum lru_list list);

/* Takes a listed page off its list there. As above. */
void lru_unlist_page(struct lruvec *lruvec, struct page *page);

/*
 * Takes a page out of the pagevec where it waits by `state`. Returns false when its CPU has taken it out
 * already: then it is on a list as soon as the lock of its node can be had.
 */
bool lru_pagevec_remove(struct lru *lru, struct page *page, uint32_t state);

#endif
