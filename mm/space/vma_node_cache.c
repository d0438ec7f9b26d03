/* SPDX-License-Identifier: MIT */
#include "mm/space/vma_node_cache.h"

#include "mm/space/vma_node.h"
#include "port/cpu.h"
#include "port/lifetime.h"
#include "port/memory.h"
#include "sync/percpu.h"
#include "sync/retired.h"

/* Enough for some changes of a large tree that wait for the same grace period. */
#define KEPT_MAX 32u

/* Used by its CPU alone. */
struct vma_node_cpu {
	CACHE_LINE_ALIGNED struct vma_node *free;
	unsigned count;
	struct retired_count retired;
};

struct vma_node_cache {
	struct percpu cpu; /* of struct vma_node_cpu */
};

struct vma_node_cache *vma_node_cache_create(void)
{
	struct vma_node_cache *cache =
	    port_memory_alloc(sizeof(*cache), PORT_NODE_FIRST_TOUCH, "struct vma_node_cache");

	if (!cache)
		return NULL;
	if (percpu_alloc(&cache->cpu, sizeof(struct vma_node_cpu), "struct vma_node_cpu")) {
		port_memory_free(cache, sizeof(*cache));
		return NULL;
	}
	return cache;
}

void vma_node_cache_destroy(struct vma_node_cache *cache)
{
	if (!cache)
		return;
	vma_node_cache_drain(cache);
	percpu_free(&cache->cpu);
	port_memory_free(cache, sizeof(*cache));
}

void vma_node_cache_drain(struct vma_node_cache *cache)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct vma_node_cpu *own = percpu_of(&cache->cpu, cpu);

		while (own->free) {
			struct vma_node *node = own->free;

			port_memory_alive(node, sizeof(*node));
			own->free = node->link;
			port_memory_free(node, sizeof(*node));
		}
		own->count = 0;
	}
}

void vma_node_cache_retired(const struct vma_node_cache *cache, int64_t *bytes, int64_t *peak)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct vma_node_cpu *own = percpu_of(&cache->cpu, cpu);

		retired_sum(&own->retired, bytes, peak);
	}
}

struct vma_node *vma_node_get(struct vma_node_cache *cache)
{
	struct vma_node_cpu *own = percpu_this(&cache->cpu);
	struct vma_node *node = own->free;

	if (!node)
		return port_memory_alloc(sizeof(*node), PORT_NODE_FIRST_TOUCH, "struct vma_node");
	port_memory_alive(node, sizeof(*node));
	own->free = node->link;
	own->count--;
	return node;
}

void vma_node_put(struct vma_node_cache *cache, struct vma_node *node)
{
	struct vma_node_cpu *own = percpu_this(&cache->cpu);

	if (own->count == KEPT_MAX) {
		port_memory_free(node, sizeof(*node));
		return;
	}
	node->link = own->free;
	own->free = node;
	own->count++;
	port_memory_dead(node, sizeof(*node), "struct vma_node");
}

static void count_chain(struct vma_node_cache *cache, const struct vma_node *node, int64_t sign)
{
	struct vma_node_cpu *own = percpu_this(&cache->cpu);

	for (; node; node = node->link)
		retired_change(&own->retired, sign * (int64_t)sizeof(*node));
}

static void put_chain(struct port_rcu_head *head)
{
	struct vma_node *node = container_of(head, struct vma_node, retired.rcu);
	struct vma_node_cache *cache = node->retired.cache;

	count_chain(cache, node, -1);
	while (node) {
		struct vma_node *next = node->link;

		vma_node_put(cache, node);
		node = next;
	}
}

void vma_node_retire(struct vma_node_cache *cache, struct vma_node *node)
{
	count_chain(cache, node, 1);
	node->retired.cache = cache;
	port_rcu_call(&node->retired.rcu, put_chain);
}
