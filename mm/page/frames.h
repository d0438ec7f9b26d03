/* SPDX-License-Identifier: MIT */
/*
 * The frames of RAM: their table of struct page, their contents, and the allocator that hands them out.
 *
 * Frames are numbered (PFN) from 0. [0, own) belong to the allocator. [own, count) are exported: they are
 * RAM, tracked by struct page, that a PFN mapping may name, and the allocator never hands them out (a
 * device's buffer, or memory that another partition lends). Frame 0 is the zero page, which the allocator
 * keeps for itself.
 *
 * The own frames are split evenly into as many zones as the machine has memory nodes. A CPU gets frames of
 * its own node while there are any, then those of the others, nearest first. How the CPUs share a zone is the
 * policy's `frame_cache`: mm/page/frame_cache.h.
 *
 * Nothing here loops over the frames at creation: the tables are reserved address space, and a frame that was
 * never handed out is known only by its zone's bump pointer.
 */
#ifndef MM_PAGE_FRAMES_H
#define MM_PAGE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/page/page.h"
#include "mm/policy/policy.h"
#include "sync/percpu.h"
#include "sync/retired.h"

struct frame_cache_ops;
struct groups;
struct lru;
struct swap;

/* What is counted, by CPU. The first two are the allocator's; mm/page/ and who owns the pages count the rest.
 */
enum frame_counter {
	FRAMES_ALLOCATED, /* handed out since the system was made */
	FRAMES_FREED,     /* given back */
	FRAMES_ANONYMOUS, /* frames of anonymous memory: page_set_anonymous() and the frame's end */
	FRAMES_TABLE,     /* frames of page tables: mm/table/ */
	FRAMES_PINNED,    /* references that sf_pin() holds: mm/system/ */
	FRAMES_SHARED,    /* pages of shared memory objects, and of files: mm/object/ and the frame's end */
	FRAMES_FILE,
	FRAMES_INDEX,    /* frames of page indices: mm/object/ */
	FRAMES_FLUSHES,  /* times that translations of other CPUs were waited for: mm/table/ */
	FRAMES_REFAULTS, /* pages that came back after reclaim had taken them: mm/charge/workingset.h */
	FRAME_COUNTERS
};

/* One CPU's counts: how much each changed here. Written by that CPU alone, relaxed; read by anyone. */
struct frame_counts {
	CACHE_LINE_ALIGNED _Atomic int64_t count[FRAME_COUNTERS];
	struct retired_count retired; /* frames, and objects of frames, that wait for a grace period */
	/*
	 * How many more frames the CPU may have handed out than taken back until it calls who watches; 0: it
	 * does not. Written by that one, and by the CPU when it has called. Relaxed.
	 */
	_Atomic int64_t watch_at;
	/* The CPU's own: what the last frame that it did not get was refused for, or the last charge. */
	bool refused;
	struct page_group *refused_by; /* NULL: there was no frame */
};

struct frames {
	/* All of it is read only after frames_create(). */
	struct page *pages;
	char *contents;          /* of frames 0 to contents_count - 1 */
	uint64_t count;          /* all frames of RAM */
	uint64_t own;            /* the first of them: the allocator's */
	uint64_t contents_count; /* `own` in a system of structure only, else `count` */
	bool structure_only;
	uint64_t node_frames; /* own frames of one node; the last node has the rest too */
	unsigned nodes;
	uint16_t *node_order; /* [nodes][nodes]: all nodes from near to far, of each node; itself first */
	const struct frame_cache_ops *ops;
	void *cache;          /* the choice's own */
	struct percpu counts; /* of struct frame_counts */
	struct lru *lru;
	/*
	 * Set once by groups_create(), mm/charge/: the groups that pages are charged to, and what is called
	 * for a page with a group whose last reference has been put. NULL where nothing is ever charged.
	 */
	struct groups *groups;
	unsigned gather_batches, pcp_batches; /* see struct system_config */
	void (*uncharge)(struct page *page);
	/*
	 * Set once by mm/object/, with the policy dirty_tracking=pte: told of a file's page whose entry was
	 * dirty, before that can be seen to be clean or gone. The entry is locked. NULL: such a page is dirty
	 * already.
	 */
	void (*set_dirty)(struct page *page);
	/* Set once by who makes it, mm/swap/: where entries that name slots lead. NULL: there are none. */
	struct swap *swap;
	/* Not read only: who watches how many frames are free sleeps on it while it is 0. Atomic. */
	CACHE_LINE_ALIGNED _Atomic uint32_t watch_called;
};

struct frames_config {
	uint64_t own_frames;      /* 1 or more; one of them is the zero page */
	uint64_t exported_frames; /* 0 or more; both together at most FRAMES_MAX */
	bool structure_only;      /* exported frames have no contents */
	enum policy_frame_cache cache;
	enum policy_lru_add lru_add;
	unsigned gather_batches, pcp_batches; /* see struct system_config */
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
 * Hands out one frame with refcount 1, mapcount 0, no flag but those of the memory type, contents undefined.
 * Returns NULL when nothing is free, but for what other CPUs hold back: at most four magazines each
 * (`magazine`, a quarter of all frames at most), or their lists (`zone`, 186 of each zone at most). Never
 * sleeps; takes locks of ranks ZONE, FRAME_SHELF and FRAME_DEPOT. The caller must not be interrupted by
 * another use of the frames on its CPU. Part of the fault path.
 */
struct page *frame_alloc(struct frames *frames);

/*
 * Takes back a frame whose refcount is 1, the caller's, and which nothing maps; flags of its life (see
 * PG_OF_ONE_LIFE) are cleared. Same rules as frame_release(). To give back what has no owner, or to be given
 * back twice, is a broken invariant.
 */
void frame_free(struct frames *frames, struct page *page);

/*
 * The part of page_put() that is rare: the last reference is gone. The page leaves the LRU and is uncharged,
 * and its frame goes back to the allocator. Same rules as frame_alloc(); takes also locks of ranks LRU and
 * RES_COUNTER. Part of the fault path.
 */
void frame_release(struct frames *frames, struct page *page);

/* The last step of that alone: the page is on no LRU list any more and charged to nobody. As frame_alloc().
 */
void frame_give_back(struct frames *frames, struct page *page);

/*
 * Puts a reference, and returns whether it was the last: then frame_release() is the caller's to call.
 * Release order, so that the putter's accesses come before the frame's next life, and acquire order for who
 * puts the last.
 */
static inline bool page_put_test(struct page *page)
{
	uint32_t old = atomic_load_explicit(&page->refcount, memory_order_acquire);

	/* The only reference is the caller's: but for reclaim, which finds pages on the lists, there is
	 * nobody who could take another. */
	if (old == 1 && !page_has_flag(page, PG_lru))
		atomic_store_explicit(&page->refcount, 0, memory_order_relaxed);
	else
		old = atomic_fetch_sub_explicit(&page->refcount, 1, memory_order_acq_rel);
	invariant(old != 0 && old <= PAGE_COUNT_MAX);
	return old == 1;
}

/* Puts a reference; the last one gives the frame back. Same rules as frame_release(). */
static inline void page_put(struct frames *frames, struct page *page)
{
	if (page_put_test(page))
		frame_release(frames, page);
}

/* Adds `change` to a counter of the calling CPU. Part of the fault path. */
static inline void frames_count(struct frames *frames, enum frame_counter counter, int64_t change)
{
	struct frame_counts *counts = percpu_this(&frames->counts);
	int64_t old = atomic_load_explicit(&counts->count[counter], memory_order_relaxed);

	atomic_store_explicit(&counts->count[counter], old + change, memory_order_relaxed);
}

/* Says that memory now waits for a grace period, or with a negative number that it has been freed. */
static inline void frames_retired(struct frames *frames, int64_t bytes)
{
	struct frame_counts *counts = percpu_this(&frames->counts);

	retired_change(&counts->retired, bytes);
}

/* Returns the sum of a counter over all CPUs; while they run, of a moment that each has passed. */
uint64_t frames_counted(const struct frames *frames, enum frame_counter counter);

/* Returns how many frames frame_alloc() could hand out if every CPU gave up what it holds back. As above. */
uint64_t frames_free_count(const struct frames *frames);

/*
 * A refusal is noted on the CPU, by frame_alloc() and by who charges: for calls that may fail with -ENOMEM
 * for other reasons too. frames_take_refusal() returns whether there was one since it was called last, and by
 * which group.
 */
static inline void frames_note_refusal(struct frames *frames, struct page_group *group)
{
	struct frame_counts *counts = percpu_this(&frames->counts);

	counts->refused = true;
	counts->refused_by = group;
}

static inline bool frames_take_refusal(struct frames *frames, struct page_group **group)
{
	struct frame_counts *counts = percpu_this(&frames->counts);
	bool refused = counts->refused;

	*group = counts->refused_by;
	if (refused)
		counts->refused = false;
	return refused;
}

/*
 * Watching, for one who watches at a time: each CPU is given a share of `pages`, and the first that has used
 * up its own sets frames->watch_called to 1 and wakes who sleeps on that. So when nobody has called, no more
 * than `pages` frames were taken since. A call before that is not forgotten.
 */
void frames_watch(struct frames *frames, uint64_t pages);

/* Nobody watches any more. */
void frames_watch_end(struct frames *frames);

/* How many free frames all CPUs together may hold back, at most: see frame_alloc(). */
uint64_t frames_held_back(const struct frames *frames);

/*
 * Makes a new page, which nobody has mapped, one of anonymous memory: its mappings are found from `anon`
 * (mm/rmap/anon.h), where it is page `index`.
 */
static inline void page_set_anonymous(struct frames *frames, struct page *page, struct anon_vma *anon,
				      uint64_t index)
{
	atomic_store_explicit(&page->anon, anon, memory_order_relaxed);
	page->index = index;
	page_set_flag(page, PG_anonymous);
	frames_count(frames, FRAMES_ANONYMOUS, 1);
}

/*
 * Calls `visit` for every own frame that was ever handed out, but the zero page, while nothing runs; stops
 * when it returns nonzero, and returns that.
 */
int frames_for_each(struct frames *frames, int (*visit)(void *argument, struct page *page), void *argument);

/*
 * Checks the allocator while nothing runs: every free frame is in one place, and exactly `in_use` frames
 * (without the zero page) are not free. Returns 0, or -EINVAL with the first thing found wrong.
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

/* The page that reads of private memory are given before the first write: zeroes. It is mapped by special
 * PTEs, which hold no reference, and never written, got or put. */
#define ZERO_PFN UINT64_C(0)

static inline struct page *zero_page(const struct frames *frames)
{
	return pfn_to_page(frames, ZERO_PFN);
}

/* The memory node of an own frame. */
static inline unsigned frame_node(const struct frames *frames, uint64_t pfn)
{
	uint64_t node = frames->nodes == 1 ? 0 : pfn / frames->node_frames;

	return node < frames->nodes ? (unsigned)node : frames->nodes - 1;
}

/* The page whose contents `address` points into. */
static inline struct page *page_of_address(const struct frames *frames, const void *address)
{
	return pfn_to_page(frames, (uint64_t)((const char *)address - frames->contents) >> PORT_PAGE_SHIFT);
}

/* The contents of `page`, or NULL for an exported frame in a system of structure only. */
static inline void *page_address(const struct frames *frames, const struct page *page)
{
	uint64_t pfn = page_to_pfn(frames, page);

	return pfn < frames->contents_count ? frames->contents + (pfn << PORT_PAGE_SHIFT) : NULL;
}

#endif
