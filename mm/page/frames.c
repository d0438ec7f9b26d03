/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking the tables of frames.
 */
#include "mm/page/frames.h"

#include "mm/page/magazine.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/panic.h"

/*
 * A magazine small enough that all CPUs' magazines together hold at most a quarter of the frames: a small
 * system would otherwise run out while other CPUs sit on what is free.
 */
static uint64_t magazine_size(const struct frames *frames)
{
	uint64_t size = frames->own / (port_cpu_count() * 8ull);

	return size < 1 ? 1 : size > MAGAZINE_PAGES_MAX ? MAGAZINE_PAGES_MAX : size;
}

static struct frame_depot *depot_create(const struct frames *frames, unsigned node)
{
	struct frame_depot *depot = port_memory_alloc(sizeof(*depot), node, "struct frame_depot");

	if (!depot)
		return NULL;
	spin_lock_init(&depot->lock, LOCK_RANK_FRAME_DEPOT);
	depot->first = node * frames->node_frames;
	depot->fresh = depot->first;
	depot->fresh_end = node == frames->nodes - 1 ? frames->own : depot->first + frames->node_frames;
	return depot;
}

/*
 * The table and the contents are placed by the first touch: a node's frames are handed out to its own CPUs
 * first, and an exported frame lies with the CPU that uses it.
 */
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
	frames->nodes = port_node_count();
	frames->node_frames = frames->own / frames->nodes;
	frames->magazine_pages = magazine_size(frames);

	frames->pages =
	    port_memory_alloc(frames->count * sizeof(struct page), PORT_NODE_FIRST_TOUCH, "struct page");
	frames->contents = port_memory_alloc(frames->contents_count << PORT_PAGE_SHIFT, PORT_NODE_FIRST_TOUCH,
					     "struct table_page");
	frames->depot = port_memory_alloc(frames->nodes * sizeof(struct frame_depot *), PORT_NODE_FIRST_TOUCH,
					  "struct frame_depot *");
	if (!frames->pages || !frames->contents || !frames->depot ||
	    percpu_alloc(&frames->cpu, sizeof(struct frame_cpu), "struct frame_cpu"))
		goto fail;
	for (unsigned node = 0; node < frames->nodes; node++) {
		frames->depot[node] = depot_create(frames, node);
		if (!frames->depot[node])
			goto fail;
	}
	return frames;
fail:
	frames_destroy(frames);
	return NULL;
}

void frames_destroy(struct frames *frames)
{
	if (!frames)
		return;
	if (frames->depot)
		for (unsigned node = 0; node < frames->nodes; node++)
			port_memory_free(frames->depot[node], sizeof(struct frame_depot));
	port_memory_free(frames->depot, frames->nodes * sizeof(struct frame_depot *));
	percpu_free(&frames->cpu);
	port_memory_free(frames->contents, frames->contents_count << PORT_PAGE_SHIFT);
	port_memory_free(frames->pages, frames->count * sizeof(struct page));
	port_memory_free(frames, sizeof(*frames));
}
