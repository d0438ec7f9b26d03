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
	void (*add)(struct lru *lru, struct page *page, enum lru_list list);
	void (*drain)(struct lru *lru);
	uint64_t (*waiting)(struct lru *lru);
};

extern const struct lru_ops lru_zone_ops;
extern const struct lru_ops lru_per_cpu_ops;

/*
 * page->lru_state of a page with PG_lru: on a list, or in a slot of a CPU's pagevec. It goes from waiting to
 * listed under the lock of the place, and from one list to another so.
 */
#define LRU_STATE_WAITS    (UINT32_C(1) << 31)
#define LRU_STATE_LIST     UINT32_C(1)
#define LRU_PLACE_SHIFT    1 /* of a listed one */
#define LRU_SLOT_SHIFT     1 /* of one that waits: four bits, then the CPU */
#define LRU_SLOT_MASK      UINT32_C(15)
#define LRU_SLOT_CPU_SHIFT 5

static inline uint32_t lru_state_listed(unsigned place, enum lru_list list)
{
	return place << LRU_PLACE_SHIFT | (uint32_t)list;
}

static inline uint32_t lru_state_waits(unsigned cpu, unsigned slot, enum lru_list list)
{
	return LRU_STATE_WAITS | cpu << LRU_SLOT_CPU_SHIFT | slot << LRU_SLOT_SHIFT | (uint32_t)list;
}

/* Puts a page on a list of `place`, whose lock is held. */
void lru_list_page(struct page *page, unsigned place, enum lru_list list);

/*
 * Takes a page out of the pagevec where it waits by `state`. Returns false when its CPU has taken it out
 * already: then it is on a list as soon as the lock of its node can be had.
 */
bool lru_pagevec_remove(struct lru *lru, struct page *page, uint32_t state);

#endif
