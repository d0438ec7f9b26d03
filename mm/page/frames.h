/* SPDX-License-Identifier: MIT */
/*
 * The frames of RAM: their table of struct page, their contents, and the allocator that hands them out.
 *
 * Frames are numbered (PFN) from 0. [0, own) belong to the allocator. [own, count) are exported: they are
 * RAM, tracked by struct page, that a PFN mapping may name, and the allocator never hands them out (a
 * device's buffer, or memory that another partition lends).
 *
 * Nothing here loops over the frames at creation: the tables are reserved address space, and a frame that was
 * never handed out is known only by a depot's bump pointer.
 */
#ifndef MM_PAGE_FRAMES_H
#define MM_PAGE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/page/page.h"
#include "sync/percpu.h"

struct frame_depot;

struct frames {
	/* All of it is read only after frames_create(). */
	struct page *pages;
	char *contents;          /* of frames 0 to contents_count - 1 */
	uint64_t count;          /* all frames of RAM */
	uint64_t own;            /* the first of them: the allocator's */
	uint64_t contents_count; /* `own` in a system of structure only, else `count` */
	uint64_t magazine_pages; /* a full magazine */
	uint64_t node_frames;    /* own frames of one node; the last node has the rest too */
	unsigned nodes;
	struct percpu cpu;          /* of struct frame_cpu */
	struct frame_depot **depot; /* [nodes] */
};

struct frames_config {
	uint64_t own_frames;      /* 1 or more */
	uint64_t exported_frames; /* 0 or more; both together at most FRAMES_MAX */
	bool structure_only;      /* exported frames have no contents */
};

/* What 52 bits of physical address can number. */
#define FRAMES_MAX ((uint64_t)1 << 40)

/*
 * Makes the frames of a system. Returns them, or NULL when there is no memory for their tables. Must not be
 * called from the fault path.
 */
struct frames *frames_create(const struct frames_config *config);

/* Frees them; all have been given back and nobody uses them any more. NULL is allowed. */
void frames_destroy(struct frames *frames);

/*
 * Hands out one frame with refcount 1, contents undefined. Returns NULL when the caller's CPU and all depots
 * are empty (other CPUs may still hold up to two magazines each). Never sleeps; a lock of rank FRAME_DEPOT is
 * taken once in a magazine's worth of calls, nothing that another CPU uses is touched otherwise. The caller
 * must not be interrupted by another use of the frames on its CPU.
 */
struct page *frame_alloc(struct frames *frames);

/* Takes back a frame whose refcount is 1. Same rules as frame_alloc(). */
void frame_free(struct frames *frames, struct page *page);

/*
 * Checks the allocator while nothing runs: every free frame is in one place, and exactly `in_use` frames are
 * not free. Returns 0, or -EINVAL with the first thing found wrong.
 */
int frames_check(struct frames *frames, uint64_t in_use, struct message *why);

static inline struct page *pfn_to_page(const struct frames *frames, uint64_t pfn)
{
	return frames->pages + pfn;
}

static inline uint64_t page_to_pfn(const struct frames *frames, const struct page *page)
{
	return (uint64_t)(page - frames->pages);
}

/* The contents of `page`, or NULL for an exported frame in a system of structure only. */
static inline void *page_address(const struct frames *frames, const struct page *page)
{
	uint64_t pfn = page_to_pfn(frames, page);

	return pfn < frames->contents_count ? frames->contents + (pfn << PORT_PAGE_SHIFT) : NULL;
}

#endif
