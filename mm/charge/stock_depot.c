/* SPDX-License-Identifier: MIT */
/*
 * The choice `depot`: between the CPUs' stocks and the counters stands a depot in each memory node. An empty
 * CPU takes 16 pages from it, and who finds it empty charges as many as there is room for. So the line that
 * all CPUs share is written once for 16 pages times the CPUs of a node, and what moves in between stays in
 * the node. A CPU's stock is half of what it is without depots, so that no more pages are charged ahead.
 *
 * While one CPU fills the depot, the others of its node wait at its lock instead of going to the counters.
 */
#include "mm/charge/stock.h"
#include "port/cpu.h"

#define CPU_PAGES (CHARGE_STOCK_PAGES / 2)

/* Takes a CPU's worth of pages from a depot. Returns how many, 0 when there are none of the group. */
static unsigned take(struct stock_depot *depot, struct sf_group *group)
{
	uint64_t word = atomic_load_explicit(&depot->stock.word, memory_order_relaxed);

	while (word && stock_group(word) == group) {
		unsigned there = stock_pages(word), taken = there < CPU_PAGES ? there : CPU_PAGES;

		if (stock_change(&depot->stock, &word, stock_word(group, there - taken)))
			return taken;
	}
	return 0;
}

/* Charges a CPU's worth of pages, and as many as the depot has room for, which has none of the group. */
static struct counter *fill(struct stock_depot *depot, struct sf_group *group)
{
	struct counter *full = group->groups->counter->try_charge(&group->memory, CPU_PAGES + depot->room);

	if (!full)
		stock_replace(&depot->stock, stock_word(group, depot->room));
	return full;
}

static struct counter *charge_from_depot(struct sf_group *group)
{
	struct stock_depot *depot = group->groups->depot[port_cpu_node(port_cpu())];
	unsigned taken = take(depot, group);
	struct counter *full = NULL;

	if (!taken) {
		spin_lock(&depot->lock);
		taken = take(depot, group);
		if (!taken) {
			full = fill(depot, group);
			taken = CPU_PAGES;
		}
		spin_unlock(&depot->lock);
	}
	if (!full)
		refill_stock(group, taken - 1);
	return full;
}

const struct stock_ops stock_depot_ops = {
    .cpu_pages = CPU_PAGES, .depots = true, .charge = charge_from_depot};
