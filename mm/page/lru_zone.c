/* SPDX-License-Identifier: MIT */
/*
 * The choice `zone_lock`: how Linux 3.16 adds to the lists (mm/swap.c, functions of the same names). A new
 * page goes into its CPU's pagevec; a full pagevec is emptied to the lists under the lru_lock of the zone.
 *
 * There each page in a pagevec holds a reference, so a page that is unmapped meanwhile stays until its
 * pagevec is emptied. Here it holds none, and who releases such a page takes it out of the slot, by
 * compare-and-swap against the CPU that empties its pagevec, which exchanges each slot for NULL under the
 * lock of the page's node. Who finds the page gone from the slot waits for that lock and finds it on the
 * list.
 */
#include <errno.h>

#include "mm/page/frames.h"
#include "mm/page/lru_parts.h"
#include "port/cpu.h"
#include "port/memory.h"

struct lru_pagevec {
	CACHE_LINE_ALIGNED unsigned count; /* slots that were filled; the CPU's own */
	/* Filled by the CPU; emptied by it, or by who releases the page. Atomic. */
	struct page *_Atomic slot[PAGEVEC_SIZE];
};

static unsigned places(void)
{
	return port_node_count();
}

static unsigned place_node(unsigned place)
{
	return place;
}

static int create(struct lru *lru)
{
	lru->place = port_memory_alloc(lru->places * sizeof(struct lru_place *), PORT_NODE_FIRST_TOUCH,
				       "struct lru_place *");
	if (!lru->place)
		return -ENOMEM;
	for (unsigned i = 0; i < lru->places; i++) {
		lru->place[i] = port_memory_alloc(sizeof(struct lru_place), i, "struct lru_place");
		if (!lru->place[i])
			return -ENOMEM;
		spin_lock_init(&lru->place[i]->lock, LOCK_RANK_LRU);
	}
	return percpu_alloc(&lru->pagevecs, sizeof(struct lru_pagevec), "struct lru_pagevec");
}

static void destroy(struct lru *lru)
{
	if (lru->place)
		for (unsigned i = 0; i < lru->places; i++)
			port_memory_free(lru->place[i], sizeof(struct lru_place));
	port_memory_free(lru->place, lru->places * sizeof(struct lru_place *));
	percpu_free(&lru->pagevecs);
}

static void pagevec_lru_add(struct lru *lru, struct lru_pagevec *pagevec)
{
	struct lru_run run;

	lru_run_begin(&run, lru);
	for (unsigned i = 0; i < pagevec->count; i++) {
		struct page *page = atomic_load_explicit(&pagevec->slot[i], memory_order_relaxed);
		unsigned node;

		if (!page)
			continue;
		/* Only the number is used: somebody else may be about to release the page. */
		node = frame_node(lru->frames, page_to_pfn(lru->frames, page));
		lru_run_take(&run, &lru->place[node]->lock);
		/* From here on who releases the page comes for the lock. */
		if (atomic_exchange_explicit(&pagevec->slot[i], NULL, memory_order_relaxed))
			lru_list_page(lruvec_of(page->group, node), page, node,
				      atomic_load_explicit(&page->lru_state, memory_order_relaxed) &
					  LRU_STATE_LIST);
	}
	lru_run_end(&run);
	pagevec->count = 0;
}

static void add(struct lru *lru, struct page *page, enum lru_list list)
{
	struct lru_pagevec *pagevec = percpu_this(&lru->pagevecs);

	atomic_store_explicit(&page->lru_state, lru_state_waits(port_cpu(), pagevec->count, list),
			      memory_order_relaxed);
	atomic_store_explicit(&pagevec->slot[pagevec->count++], page, memory_order_relaxed);
	if (pagevec->count == PAGEVEC_SIZE)
		pagevec_lru_add(lru, pagevec);
}

static void drain(struct lru *lru)
{
	struct lru_pagevec *pagevec = percpu_this(&lru->pagevecs);

	if (pagevec->count)
		pagevec_lru_add(lru, pagevec);
}

bool lru_pagevec_remove(struct lru *lru, struct page *page, uint32_t state)
{
	struct lru_pagevec *pagevec =
	    percpu_of(&lru->pagevecs, (state & ~LRU_STATE_WAITS) >> LRU_SLOT_CPU_SHIFT);
	struct page *expected = page;

	return atomic_compare_exchange_strong_explicit(
	    &pagevec->slot[state >> LRU_SLOT_SHIFT & LRU_SLOT_MASK], &expected, NULL, memory_order_relaxed,
	    memory_order_relaxed);
}

static uint64_t waiting(struct lru *lru)
{
	uint64_t pages = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct lru_pagevec *pagevec = percpu_of(&lru->pagevecs, cpu);

		for (unsigned i = 0; i < pagevec->count; i++)
			pages += atomic_load(&pagevec->slot[i]) != NULL;
	}
	return pages;
}

const struct lru_ops lru_zone_ops = {
    .places = places,
    .place_node = place_node,
    .create = create,
    .destroy = destroy,
    .add = add,
    .drain = drain,
    .waiting = waiting,
};
