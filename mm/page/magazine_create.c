/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking the frame cache `magazine`.
 */
#include "mm/page/magazine.h"

#include "mm/page/magazine_parts.h"
#include "port/cpu.h"
#include "port/memory.h"

/* `bound`, but so little that sixteen of it for each CPU are not more than there is: a small system would
 * otherwise run out while other CPUs sit on what is free. */
static uint64_t portion(const struct frames *frames, uint64_t bound)
{
	uint64_t pages = frames->own / (port_cpu_count() * UINT64_C(16));

	return pages < 1 ? 1 : pages > bound ? bound : pages;
}

static struct frame_depot *depot_create(const struct frames *frames, unsigned node)
{
	struct frame_depot *depot = port_memory_alloc(sizeof(*depot), node, "struct frame_depot");

	if (!depot)
		return NULL;
	spin_lock_init(&depot->lock, LOCK_RANK_FRAME_DEPOT);
	depot->end = frame_node_end(frames, node);
	atomic_init(&depot->fresh, frame_node_first(frames, node));
	return depot;
}

int magazines_create(struct frames *frames)
{
	struct magazines *cache =
	    port_memory_alloc(sizeof(*cache), PORT_NODE_FIRST_TOUCH, "struct magazines");
	unsigned count = 0;

	if (!cache)
		return -ENOMEM;
	frames->cache = cache;
	cache->magazine_pages = portion(frames, MAGAZINE_PAGES_MAX);
	cache->chunk_pages = portion(frames, CHUNK_PAGES_MAX);
	cache->depot = port_memory_alloc(frames->nodes * sizeof(struct frame_depot *), PORT_NODE_FIRST_TOUCH,
					 "struct frame_depot *");
	cache->cpus =
	    port_memory_alloc(port_cpu_count() * sizeof(*cache->cpus), PORT_NODE_FIRST_TOUCH, "uint16_t");
	if (!cache->depot || !cache->cpus ||
	    percpu_alloc(&cache->cpu, sizeof(struct frame_cpu), "struct frame_cpu") ||
	    percpu_alloc(&cache->shelf, sizeof(struct frame_shelf), "struct frame_shelf"))
		return -ENOMEM;

	for (unsigned node = 0; node < frames->nodes; node++) {
		struct frame_depot *depot = depot_create(frames, node);

		if (!depot)
			return -ENOMEM;
		cache->depot[node] = depot;
		depot->first_cpu = count;
		for (unsigned i = 0; i < port_cpu_count(); i++) {
			struct frame_cpu *cpu = percpu_of(&cache->cpu, i);
			struct frame_shelf *shelf = percpu_of(&cache->shelf, i);

			if (port_cpu_node(i) != node)
				continue;
			spin_lock_init(&shelf->lock, LOCK_RANK_FRAME_SHELF);
			cpu->node = (uint16_t)node;
			cache->cpus[count++] = (uint16_t)i;
		}
		depot->end_cpu = count;
	}
	return 0;
}

void magazines_destroy(struct frames *frames)
{
	struct magazines *cache = frames->cache;

	if (!cache)
		return;
	if (cache->depot)
		for (unsigned node = 0; node < frames->nodes; node++)
			port_memory_free(cache->depot[node], sizeof(struct frame_depot));
	port_memory_free(cache->depot, frames->nodes * sizeof(struct frame_depot *));
	port_memory_free(cache->cpus, port_cpu_count() * sizeof(*cache->cpus));
	percpu_free(&cache->cpu);
	percpu_free(&cache->shelf);
	port_memory_free(cache, sizeof(*cache));
}
