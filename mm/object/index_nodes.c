/* SPDX-License-Identifier: MIT */
#include "mm/object/index_nodes.h"

#include <errno.h>
#include <string.h>

#include "port/cpu.h"
#include "port/lifetime.h"
#include "port/memory.h"
#include "sync/percpu.h"

#define NODES_PER_FRAME ((unsigned)(PORT_PAGE_SIZE / sizeof(struct index_node)))

/* More free nodes than this of one CPU go back to their frames. A tree of any height is preloaded with less.
 */
#define FREE_NODES_MAX 28u

/* Used by its CPU alone. */
struct index_nodes_cpu {
	CACHE_LINE_ALIGNED struct index_node *free; /* linked by next */
	unsigned count;
};

struct index_nodes {
	struct frames *frames;
	struct percpu cpu; /* of struct index_nodes_cpu */
};

struct index_nodes *index_nodes_create(struct frames *frames)
{
	struct index_nodes *nodes =
	    port_memory_alloc(sizeof(*nodes), PORT_NODE_FIRST_TOUCH, "struct index_nodes");

	if (!nodes)
		return NULL;
	nodes->frames = frames;
	if (percpu_alloc(&nodes->cpu, sizeof(struct index_nodes_cpu), "struct index_nodes_cpu")) {
		port_memory_free(nodes, sizeof(*nodes));
		return NULL;
	}
	return nodes;
}

void index_nodes_destroy(struct index_nodes *nodes)
{
	if (!nodes)
		return;
	index_nodes_drain(nodes);
	percpu_free(&nodes->cpu);
	port_memory_free(nodes, sizeof(*nodes));
}

static struct page *frame_of(const struct index_nodes *nodes, const struct index_node *node)
{
	const struct frames *frames = nodes->frames;

	return pfn_to_page(frames, (uint64_t)((const char *)node - frames->contents) >> PORT_PAGE_SHIFT);
}

static void push(struct index_nodes_cpu *own, struct index_node *node)
{
	node->next = own->free;
	own->free = node;
	own->count++;
	port_memory_dead(node, sizeof(*node), "struct index_node");
}

static struct index_node *pop(struct index_nodes_cpu *own)
{
	struct index_node *node = own->free;

	port_memory_alive(node, sizeof(*node));
	own->free = node->next;
	own->count--;
	return node;
}

/* Cuts a frame into nodes. Their memory is whatever it was. */
static bool refill(struct index_nodes *nodes, struct index_nodes_cpu *own)
{
	struct page *page = frame_alloc(nodes->frames);
	struct index_node *first;

	if (!page)
		return false;
	page_set_flag(page, PG_index);
	frames_count(nodes->frames, FRAMES_INDEX, 1);
	atomic_store_explicit(&page->nodes.out, NODES_PER_FRAME, memory_order_relaxed);
	first = page_address(nodes->frames, page);
	for (unsigned i = NODES_PER_FRAME; i > 0; i--)
		push(own, &first[i - 1]);
	return true;
}

struct index_node *index_node_get(struct index_nodes *nodes)
{
	struct index_nodes_cpu *own = percpu_this(&nodes->cpu);
	struct index_node *node;

	if (!own->free && !refill(nodes, own))
		return NULL;
	node = pop(own);
	memset(node, 0, sizeof(*node));
	node->nodes = nodes;
	return node;
}

int index_nodes_preload(struct index_nodes *nodes, unsigned count)
{
	struct index_nodes_cpu *own = percpu_this(&nodes->cpu);

	while (own->count < count)
		if (!refill(nodes, own))
			return -ENOMEM;
	return 0;
}

/* The last node of a frame that comes back takes the frame along. */
static void give_back(struct index_nodes *nodes, struct index_node *node)
{
	struct page *page = frame_of(nodes, node);

	port_memory_dead(node, sizeof(*node), "struct index_node");
	/* Release: whoever gave a node back is done with it. Acquire: the last comes after all of them. */
	if (atomic_fetch_sub_explicit(&page->nodes.out, 1, memory_order_acq_rel) != 1)
		return;
	frames_count(nodes->frames, FRAMES_INDEX, -1);
	/* The frame's next life, which is the allocator's. */
	port_memory_alive(page_address(nodes->frames, page), PORT_PAGE_SIZE);
	frame_free(nodes->frames, page);
}

void index_node_put(struct index_nodes *nodes, struct index_node *node)
{
	struct index_nodes_cpu *own = percpu_this(&nodes->cpu);

	if (own->count < FREE_NODES_MAX)
		push(own, node);
	else
		give_back(nodes, node);
}

static void put_after_grace_period(struct port_rcu_head *head)
{
	struct index_node *node = container_of(head, struct index_node, rcu);

	frames_retired(node->nodes->frames, -(int64_t)sizeof(*node));
	index_node_put(node->nodes, node);
}

void index_node_retire(struct index_nodes *nodes, struct index_node *node)
{
	frames_retired(nodes->frames, sizeof(*node));
	port_rcu_call(&node->rcu, put_after_grace_period);
}

void index_nodes_drain(struct index_nodes *nodes)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct index_nodes_cpu *own = percpu_of(&nodes->cpu, cpu);

		while (own->free)
			give_back(nodes, pop(own));
	}
}
