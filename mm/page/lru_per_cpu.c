/* SPDX-License-Identifier: MIT */
/*
 * The choice `per_cpu`: each CPU adds to lists of its own. What it adds it mostly takes away itself, so their
 * lock, its lists and the links in its pages' struct pages stay in its cache. Another CPU comes only for a
 * page that it releases, and for a reclaim.
 */
#include "mm/page/lru_parts.h"
#include "port/cpu.h"

static unsigned places(void)
{
	return port_cpu_count();
}

static int create(struct lru *lru)
{
	(void)lru;
	return 0;
}

static void add(struct lru *lru, struct page *page, enum lru_list list)
{
	unsigned cpu = port_cpu();
	struct lru_run run;

	lru_run_begin(&run, lru);
	lru_list_page(lru_run_lock_at(&run, page->group, cpu), page, cpu, list);
	lru_run_end(&run);
}

static void destroy(struct lru *lru)
{
	(void)lru;
}

/* Nothing ever waits. */
static void drain(struct lru *lru)
{
	(void)lru;
}

static uint64_t waiting(struct lru *lru)
{
	(void)lru;
	return 0;
}

const struct lru_ops lru_per_cpu_ops = {
    .places = places,
    .place_node = port_cpu_node,
    .create = create,
    .destroy = destroy,
    .add = add,
    .drain = drain,
    .waiting = waiting,
};
