/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/page/: what a choice of `frame_cache` is. Each has a file of its own. All of them deal in
 * frames 1 to own - 1 whose refcount is 0; flags, counts and poison are the callers' business.
 */
#ifndef MM_PAGE_FRAME_CACHE_H
#define MM_PAGE_FRAME_CACHE_H

#include "base/message.h"
#include "mm/page/frames.h"

/* What check() found. */
struct frame_census {
	uint64_t free;     /* frames in lists of any kind, or never handed out */
	uint64_t returned; /* those of them that have been handed out before, so that PG_free is set */
};

struct frame_cache_ops {
	/* Makes frames->cache. Returns 0; or -ENOMEM, after which destroy() is called. */
	int (*create)(struct frames *frames);
	/* Frees it; it may be half made, or NULL. */
	void (*destroy)(struct frames *frames);
	/* Returns a free frame, which leaves the cache; NULL when there is none. */
	struct page *(*alloc)(struct frames *frames);
	/* Takes a frame that was alloc()'s. */
	void (*free)(struct frames *frames, struct page *page);
	/* Returns the first frame of `node` whose struct page was never touched, or the node's end. */
	uint64_t (*untouched)(struct frames *frames, unsigned node);
	/* How many free frames one CPU may hold back from the others, at most. */
	uint64_t (*held_back)(const struct frames *frames);
	/* Checks what it has while nothing runs. Returns 0, or -EINVAL with a message. */
	int (*check)(struct frames *frames, struct frame_census *census, struct message *why);
};

extern const struct frame_cache_ops frame_magazine_ops;
extern const struct frame_cache_ops frame_zone_ops;

/* The zone of `node`: its frames are [first, end), which can be empty. */
static inline uint64_t frame_node_first(const struct frames *frames, unsigned node)
{
	uint64_t first = node * frames->node_frames;

	/* Frame 0 is the zero page. */
	return first == 0 ? 1 : first < frames->own ? first : frames->own;
}

static inline uint64_t frame_node_end(const struct frames *frames, unsigned node)
{
	return node == frames->nodes - 1 ? frames->own : frame_node_first(frames, node + 1);
}

/* The node that is number `distance` (0 to nodes - 1) among those near to `node`; number 0 is itself. */
static inline unsigned frame_node_near(const struct frames *frames, unsigned node, unsigned distance)
{
	return frames->node_order[node * frames->nodes + distance];
}

#endif
