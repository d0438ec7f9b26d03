/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking the tables of frames.
 */
#include "mm/page/frames.h"

#include "mm/page/frame_cache.h"
#include "mm/page/lru.h"
#include "port/cpu.h"
#include "port/memory.h"

/* So that a node's first frame starts a block of the largest size that is made of frames (mm/page/buddy.h).
 */
#define NODE_FRAMES_UNIT UINT64_C(1024)

static size_t node_order_bytes(const struct frames *frames)
{
	return (size_t)frames->nodes * frames->nodes * sizeof(*frames->node_order);
}

/* Sorts the nodes by their distance from `node`. Those equally far come in turns, each node's own first. */
static void order_nodes(struct frames *frames, unsigned node)
{
	uint16_t *order = frames->node_order + node * frames->nodes;
	unsigned count = 0, least = 0, next;

	for (bool more = true; more; least = next) {
		more = false;
		next = PORT_NODE_DISTANCE_MAX;
		for (unsigned i = 0; i < frames->nodes; i++) {
			unsigned other = (node + i) % frames->nodes;
			unsigned distance = port_node_distance(node, other);

			if (distance == least)
				order[count++] = (uint16_t)other;
			if (distance > least) {
				more = true;
				next = distance < next ? distance : next;
			}
		}
	}
}

/* The tables and the contents are placed by the first touch: a node's frames are handed out to its own CPUs
 * first, and an exported frame lies with the CPU that uses it. */
static int make_tables(struct frames *frames)
{
	frames->pages =
	    port_memory_alloc(frames->count * sizeof(struct page), PORT_NODE_FIRST_TOUCH, "struct page");
	frames->contents = port_memory_alloc(frames->contents_count << PORT_PAGE_SHIFT, PORT_NODE_FIRST_TOUCH,
					     "struct table_page");
	frames->node_order = port_memory_alloc(node_order_bytes(frames), PORT_NODE_FIRST_TOUCH, "uint16_t");
	if (!frames->pages || !frames->contents || !frames->node_order)
		return -ENOMEM;
	return percpu_alloc(&frames->counts, sizeof(struct frame_counts), "struct frame_counts");
}

struct frames *frames_create(const struct frames_config *config)
{
	struct frames *frames = port_memory_alloc(sizeof(*frames), PORT_NODE_FIRST_TOUCH, "struct frames");

	if (!frames)
		return NULL;
	invariant(config->own_frames >= 1 && config->own_frames <= FRAMES_MAX &&
		  config->exported_frames <= FRAMES_MAX - config->own_frames);
	frames->own = config->own_frames;
	frames->count = config->own_frames + config->exported_frames;
	frames->contents_count = config->structure_only ? frames->own : frames->count;
	frames->structure_only = config->structure_only;
	frames->gather_batches = config->gather_batches;
	frames->pcp_batches = config->pcp_batches;
	frames->ops = config->cache == POLICY_FRAME_CACHE_ZONE ? &frame_zone_ops : &frame_magazine_ops;
	frames->nodes = port_node_count();
	frames->node_frames = frames->own / frames->nodes;
	if (frames->node_frames >= NODE_FRAMES_UNIT)
		frames->node_frames -= frames->node_frames % NODE_FRAMES_UNIT;
	else if (frames->node_frames == 0)
		frames->node_frames = 1;

	if (make_tables(frames))
		goto fail;
	for (unsigned node = 0; node < frames->nodes; node++)
		order_nodes(frames, node);
	atomic_store_explicit(&zero_page(frames)->refcount, 1, memory_order_relaxed);
	page_set_flag(zero_page(frames), PG_zero);
	if (frames->ops->create(frames))
		goto fail;
	frames->lru = lru_create(frames, config->lru_add);
	if (!frames->lru)
		goto fail;
	return frames;
fail:
	frames_destroy(frames);
	return NULL;
}

void frames_destroy(struct frames *frames)
{
	if (!frames)
		return;
	lru_destroy(frames->lru);
	frames->ops->destroy(frames);
	percpu_free(&frames->counts);
	port_memory_free(frames->node_order, node_order_bytes(frames));
	port_memory_free(frames->contents, frames->contents_count << PORT_PAGE_SHIFT);
	port_memory_free(frames->pages, frames->count * sizeof(struct page));
	port_memory_free(frames, sizeof(*frames));
}

uint64_t frames_counted(const struct frames *frames, enum frame_counter counter)
{
	int64_t sum = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct frame_counts *counts = percpu_of(&frames->counts, cpu);

		sum += atomic_load_explicit(&counts->count[counter], memory_order_relaxed);
	}
	return sum < 0 ? 0 : (uint64_t)sum;
}

uint64_t frames_free_count(const struct frames *frames)
{
	uint64_t all = frames->own - 1;
	uint64_t freed = frames_counted(frames, FRAMES_FREED);
	uint64_t allocated = frames_counted(frames, FRAMES_ALLOCATED);

	/* While CPUs run, a frame can be counted on one side and not yet on the other. */
	if (allocated <= freed)
		return all;
	return allocated - freed < all ? all - (allocated - freed) : 0;
}
