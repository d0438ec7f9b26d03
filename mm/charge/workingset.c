/* SPDX-License-Identifier: MIT */
#include "mm/charge/workingset.h"

#include "port/trace.h"

/*
 * A shadow, from the highest bit down: whether the page was active, 12 bits of the group's number, and the
 * age. A page that comes back to another group counts as new; one in 4096 is taken for the group's own.
 */
#define AGE_BITS    35u
#define AGE_MASK    ((UINT64_C(1) << AGE_BITS) - 1)
#define GROUP_BITS  12u
#define COST_SAMPLE 32
#define GROUP_MASK  ((UINT64_C(1) << GROUP_BITS) - 1)
#define ACTIVE      (UINT64_C(1) << (AGE_BITS + GROUP_BITS))

static uint64_t group_bits(const struct sf_group *group)
{
	/* Never 0, and so is no shadow. */
	return (group->number % GROUP_MASK + 1) << AGE_BITS;
}

uint64_t workingset_evict(const struct page *page)
{
	struct sf_group *group = group_of(page->group);
	uint64_t age = atomic_fetch_add_explicit(&group->aged, 1, memory_order_relaxed);

	return (age & AGE_MASK) | group_bits(group) | (page_has_flag(page, PG_workingset) ? ACTIVE : 0);
}

/*
 * Comes back to the active pages that it competes with. Anonymous ones count too: that they are kept is what
 * took the room.
 */
static bool was_taken_early(const struct sf_group *group, uint64_t shadow)
{
	const struct lru *lru = group->groups->frames->lru;
	uint64_t distance;

	if ((shadow & ~(ACTIVE | AGE_MASK)) != group_bits(group))
		return false;
	distance = (atomic_load_explicit(&group->aged, memory_order_relaxed) - shadow) & AGE_MASK;
	return distance <= lru_pages(lru, &group->pages, LRU_ACTIVE_FILE) +
			       lru_pages(lru, &group->pages, LRU_ACTIVE) +
			       lru_pages(lru, &group->pages, LRU_INACTIVE);
}

/*
 * Faults in different places must not meet at their group's line: of a CPU's refaults one in COST_SAMPLE
 * tells its group of so many.
 */
static void count_refault(struct sf_group *group, enum reclaim_kind kind)
{
	struct frames *frames = group->groups->frames;
	const struct frame_counts *counts = percpu_this(&frames->counts);

	frames_count(frames, FRAMES_REFAULTS, 1);
	if (atomic_load_explicit(&counts->count[FRAMES_REFAULTS], memory_order_relaxed) % COST_SAMPLE)
		return;
	port_scope_begin("charge refill");
	atomic_fetch_add_explicit(&group->cost[kind], COST_SAMPLE, memory_order_relaxed);
	port_scope_end();
}

enum lru_list workingset_refault(struct page *page, uint64_t shadow)
{
	struct sf_group *group = group_of(page->group);
	enum reclaim_kind kind = page_has_flag(page, PG_file) ? RECLAIM_FILE : RECLAIM_ANONYMOUS;

	count_refault(group, kind);
	if (shadow & ACTIVE)
		page_set_flag(page, PG_workingset);
	return !shadow || was_taken_early(group, shadow) ? LRU_ACTIVE : LRU_INACTIVE;
}
