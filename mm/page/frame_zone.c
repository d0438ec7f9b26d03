/* SPDX-License-Identifier: MIT */
/*
 * The frame cache `zone`. mm/page/zone.h has the whole picture.
 */
#include "mm/page/zone.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/page/frame_cache.h"
#include "port/cpu.h"
#include "port/memory.h"

/* How many batches a list holds at most, where nothing else is asked for. */
#define PCP_BATCHES 6u

/*
 * As zone_batchsize() and setup_pageset() of Linux 2.6.33: about a thousandth of the zone, at most 512 KiB, a
 * quarter of that, and then one less than a power of two; the list's bound is `batches` times that. With
 * PCP_BATCHES a zone of 512 MiB or more has 31 and 186.
 */
static void set_batch(struct zone *zone, uint64_t pages, unsigned batches)
{
	uint64_t batch = pages / 1024, power = 1;

	if (batch > 128)
		batch = 128;
	batch /= 4;
	if (batch < 1)
		batch = 1;
	while (power * 2 <= batch + batch / 2)
		power *= 2;
	batch = power - 1;
	zone->high = (unsigned)(batches * batch);
	zone->batch = batch < 1 ? 1 : (unsigned)batch;
}

static struct per_cpu_pages *zone_pcp(const struct zones *zones, const struct zone *zone)
{
	return (struct per_cpu_pages *)percpu_this(&zones->pageset) + zone->node;
}

/* Fills a list with `count` frames, or as many as there are, under one take of the lock. Returns how many. */
static unsigned rmqueue_bulk(struct frames *frames, struct zone *zone, unsigned count, struct list *list)
{
	unsigned taken;

	spin_lock(&zone->lock);
	for (taken = 0; taken < count; taken++) {
		struct page *page = buddy_take(frames, &zone->buddy);

		if (!page)
			break;
		/* Behind the one before, so that frames that lie together are handed out in order. */
		list_add(list, &page->list);
		list = &page->list;
	}
	spin_unlock(&zone->lock);
	return taken;
}

/* Gives the `count` frames of a list that were freed longest ago back, under one take of the lock. */
static void free_pcppages_bulk(struct frames *frames, struct zone *zone, unsigned count, struct list *list)
{
	spin_lock(&zone->lock);
	while (count-- > 0) {
		struct page *page = container_of(list->prev, struct page, list);

		list_remove(&page->list);
		buddy_give(frames, &zone->buddy, page);
	}
	spin_unlock(&zone->lock);
}

static struct page *buffered_rmqueue(struct frames *frames, const struct zones *zones, struct zone *zone)
{
	struct per_cpu_pages *pcp = zone_pcp(zones, zone);
	struct page *page;

	if (list_empty(&pcp->pages)) {
		pcp->count += rmqueue_bulk(frames, zone, zone->batch, &pcp->pages);
		if (list_empty(&pcp->pages))
			return NULL;
	}
	page = container_of(pcp->pages.next, struct page, list);
	list_remove(&page->list);
	pcp->count--;
	return page;
}

static struct page *get_page_from_freelist(struct frames *frames)
{
	const struct zones *zones = frames->cache;
	unsigned node = port_cpu_node(port_cpu());
	struct page *page = NULL;

	for (unsigned i = 0; i < frames->nodes && !page; i++)
		page = buffered_rmqueue(frames, zones, zones->zone[frame_node_near(frames, node, i)]);
	return page;
}

static void free_hot_cold_page(struct frames *frames, struct page *page)
{
	const struct zones *zones = frames->cache;
	struct zone *zone = zones->zone[frame_node(frames, page_to_pfn(frames, page))];
	struct per_cpu_pages *pcp = zone_pcp(zones, zone);

	list_add(&pcp->pages, &page->list);
	pcp->count++;
	if (pcp->count >= zone->high) {
		free_pcppages_bulk(frames, zone, zone->batch, &pcp->pages);
		pcp->count -= zone->batch;
	}
}

static struct zone *zone_create(const struct frames *frames, unsigned node)
{
	struct zone *zone = port_memory_alloc(sizeof(*zone), node, "struct zone");

	if (!zone)
		return NULL;
	zone->node = node;
	set_batch(zone, frame_node_end(frames, node) - frame_node_first(frames, node),
		  frames->pcp_batches ? frames->pcp_batches : PCP_BATCHES);
	spin_lock_init(&zone->lock, LOCK_RANK_ZONE);
	buddy_init(&zone->buddy, frame_node_first(frames, node), frame_node_end(frames, node));
	return zone;
}

static int zones_create(struct frames *frames)
{
	struct zones *zones = port_memory_alloc(sizeof(*zones), PORT_NODE_FIRST_TOUCH, "struct zones");

	if (!zones)
		return -ENOMEM;
	frames->cache = zones;
	zones->zone =
	    port_memory_alloc(frames->nodes * sizeof(struct zone *), PORT_NODE_FIRST_TOUCH, "struct zone *");
	if (!zones->zone || percpu_alloc(&zones->pageset, frames->nodes * sizeof(struct per_cpu_pages),
					 "struct per_cpu_pages"))
		return -ENOMEM;
	for (unsigned node = 0; node < frames->nodes; node++) {
		zones->zone[node] = zone_create(frames, node);
		if (!zones->zone[node])
			return -ENOMEM;
		for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
			list_init(&((struct per_cpu_pages *)percpu_of(&zones->pageset, cpu))[node].pages);
	}
	return 0;
}

static void zones_destroy(struct frames *frames)
{
	struct zones *zones = frames->cache;

	if (!zones)
		return;
	if (zones->zone)
		for (unsigned node = 0; node < frames->nodes; node++)
			port_memory_free(zones->zone[node], sizeof(struct zone));
	port_memory_free(zones->zone, frames->nodes * sizeof(struct zone *));
	percpu_free(&zones->pageset);
	port_memory_free(zones, sizeof(*zones));
}

static uint64_t zones_untouched(struct frames *frames, unsigned node)
{
	const struct zones *zones = frames->cache;

	return zones->zone[node]->buddy.fresh;
}

static int check_list(struct frames *frames, const struct per_cpu_pages *pcp, unsigned cpu, unsigned node,
		      struct frame_census *census, struct message *why)
{
	uint64_t seen = 0;

	for (struct list *link = pcp->pages.next; link != &pcp->pages && seen <= pcp->count;
	     link = link->next) {
		struct page *page = container_of(link, struct page, list);
		uint64_t pfn = page_to_pfn(frames, page);

		if (page_refcount(page) || page_mapcount(page) || frame_node(frames, pfn) != node)
			return message_set(why, -EINVAL,
					   "frame %" PRIu64
					   ": in the list of CPU %u for zone %u with %" PRIu32
					   " users and mapcount %#" PRIx32,
					   pfn, cpu, node, page_refcount(page), page_mapcount(page));
		census->returned += page_has_flag(page, PG_free);
		seen++;
	}
	if (seen != pcp->count)
		return message_set(why, -EINVAL, "CPU %u counts %u frames of zone %u and has %s", cpu,
				   pcp->count, node, seen > pcp->count ? "more" : "fewer");
	census->free += seen;
	return 0;
}

static int zones_check(struct frames *frames, struct frame_census *census, struct message *why)
{
	const struct zones *zones = frames->cache;
	int error = 0;

	for (unsigned node = 0; node < frames->nodes && !error; node++) {
		error = buddy_check(frames, &zones->zone[node]->buddy, &census->free, &census->returned, why);
		for (unsigned cpu = 0; cpu < port_cpu_count() && !error; cpu++)
			error =
			    check_list(frames, (struct per_cpu_pages *)percpu_of(&zones->pageset, cpu) + node,
				       cpu, node, census, why);
	}
	return error;
}

static uint64_t zones_held_back(const struct frames *frames)
{
	const struct zones *zones = frames->cache;
	uint64_t pages = 0;

	for (unsigned node = 0; node < frames->nodes; node++)
		pages += zones->zone[node]->high;
	return pages;
}

const struct frame_cache_ops frame_zone_ops = {
    .create = zones_create,
    .destroy = zones_destroy,
    .alloc = get_page_from_freelist,
    .free = free_hot_cold_page,
    .untouched = zones_untouched,
    .held_back = zones_held_back,
    .check = zones_check,
};
