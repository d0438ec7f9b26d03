/* SPDX-License-Identifier: MIT */
#include "mm/swap/swap.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/page/page_wait.h"
#include "mm/swap/area.h"
#include "port/memory.h"

struct swap *swap_create(const struct swap_config *config)
{
	struct swap *swap = port_memory_alloc(sizeof(*swap), PORT_NODE_FIRST_TOUCH, "struct swap");
	unsigned window = config->read_ahead_pages;

	invariant(window && window <= SF_IO_PAGES_MAX && !(window & (window - 1)));
	if (!swap)
		return NULL;
	swap->frames = config->frames;
	swap->read_ahead_pages = window;
	return swap;
}

static struct swap_area *area_at(const struct swap *swap, unsigned number)
{
	return number < SWAP_AREAS_MAX ? atomic_load_explicit(&swap->area[number], memory_order_acquire)
				       : NULL;
}

/* Frees what only the cache has. Nobody else is there. */
static void drain(struct swap_area *area)
{
	struct frames *frames = area->swap->frames;

	for (uint64_t slot = 0; slot < area->slots; slot++) {
		uint64_t word = atomic_load_explicit(&area->slot[slot].word, memory_order_relaxed);
		struct page *page = pfn_to_page(frames, word & SLOT_PFN_MASK);
		bool taken;

		invariant(!(word & SLOT_COUNT_MASK));
		if (!(word & SLOT_PFN_MASK))
			continue;
		page_lock(page);
		taken = swap_take_page(area->swap, page);
		invariant(taken);
		page_unlock(page);
		page_put(frames, page);
	}
}

void swap_destroy(struct swap *swap)
{
	struct swap_statistics statistics;

	if (!swap)
		return;
	swap_statistics(swap, &statistics);
	for (unsigned i = 0; area_at(swap, i); i++) {
		struct swap_area *area = area_at(swap, i);

		if (statistics.used)
			drain(area);
		area->backing->ops->release(area->backing);
		swap_area_free(area);
	}
	port_memory_free(swap, sizeof(*swap));
}

/* The order with area `number` behind those of its priority and above. */
static uint64_t order_with(const struct swap *swap, unsigned number, int priority)
{
	uint64_t old = atomic_load_explicit(&swap->order, memory_order_relaxed), order = 0;
	bool placed = false;
	unsigned shift = 0;

	for (; old || !placed; shift += 8) {
		unsigned first = (unsigned)(old & 0xff);

		if (!placed && (!first || area_at(swap, first - 1)->priority < priority)) {
			order |= (uint64_t)(number + 1) << shift;
			placed = true;
		} else {
			order |= (uint64_t)first << shift;
			old >>= 8;
		}
	}
	return order;
}

int swap_add_area(struct swap *swap, const struct swap_area_config *config, struct message *why)
{
	uint64_t slots = config->backing->bytes >> PORT_PAGE_SHIFT;
	struct swap_area *area;
	unsigned number = 0;

	if (!slots || slots > UINT64_C(1) << SWAP_SLOT_BITS)
		return message_set(why, -EINVAL,
				   "a swap area of %" PRIu64 " bytes; it must be 1 page to 2^%u pages",
				   config->backing->bytes, SWAP_SLOT_BITS);
	if (config->discard && !config->backing->ops->punch)
		return message_set(why, -EINVAL, "a swap area with discard whose backing cannot punch holes");
	while (area_at(swap, number))
		number++;
	if (number == SWAP_AREAS_MAX)
		return message_set(why, -ENOSPC,
				   "there are %u swap areas already, which is the most there can be",
				   SWAP_AREAS_MAX);
	area = swap_area_create(swap, number, config);
	if (!area)
		return -ENOMEM;
	atomic_store_explicit(&swap->area[number], area, memory_order_release);
	atomic_store_explicit(&swap->order, order_with(swap, number, area->priority), memory_order_release);
	return 0;
}

bool swap_is_scarce(const struct swap *swap)
{
	int64_t slots = 0, used = 0;
	struct swap_area *area;

	for (unsigned i = 0; (area = area_at(swap, i)); i++) {
		slots += (int64_t)area->slots;
		used += atomic_load_explicit(&area->used, memory_order_relaxed);
	}
	return used > slots / 2;
}

void swap_statistics(const struct swap *swap, struct swap_statistics *statistics)
{
	uint64_t sum[SWAP_COUNTERS] = {0};
	struct swap_area *area;

	statistics->slots = 0;
	for (unsigned i = 0; (area = area_at(swap, i)); i++) {
		statistics->slots += area->slots;
		for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
			struct swap_cpu *counts = percpu_of(&area->cpu, cpu);

			for (unsigned j = 0; j < SWAP_COUNTERS; j++)
				sum[j] +=
				    (uint64_t)atomic_load_explicit(&counts->count[j], memory_order_relaxed);
		}
	}
	statistics->used = sum[SWAP_USED];
	statistics->bad = sum[SWAP_BAD];
	statistics->cached = sum[SWAP_CACHED];
	statistics->read = sum[SWAP_READ];
	statistics->ahead = sum[SWAP_AHEAD];
	statistics->written = sum[SWAP_WRITTEN];
	statistics->reads = sum[SWAP_READS];
	statistics->writes = sum[SWAP_WRITES];
}
