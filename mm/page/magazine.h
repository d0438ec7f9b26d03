/* SPDX-License-Identifier: MIT */
/*
 * The frame cache `magazine`: frames move by whole magazines, and a CPU that gives back what it takes never
 * meets another.
 *
 * A magazine is a chain of free frames, linked through their struct pages, so it needs no memory of its own.
 * The frames of a node are in four kinds of places:
 *
 *   - with a CPU alone: `loaded`, on which it works; `spare` beside it, which is full or empty, so that
 *     between two visits to the shelf there lies at least one full magazine of allocations or frees, whatever
 *     their pattern; a run of frames never handed out; and `away`, frames of other nodes that it was given
 *     back;
 *   - on the CPU's shelf: full magazines without bound, and more frames never handed out. It has a lock,
 * since a CPU that finds nothing else takes a magazine from another's shelf;
 *   - in the node's depot: magazines of its frames that CPUs of other nodes gave back;
 *   - behind the node's bump pointer: frames that were never handed out. A shelf takes a chunk of them in one
 *     atomic step. So struct pages are first touched, and placed, by the CPU that uses them.
 *
 * An empty CPU looks at its shelf, its node's depot, the bump pointer, and the other shelves of the node;
 * then at the other nodes, nearest first; last at what it has away. Together all CPUs hold back at most a
 * quarter of the frames.
 */
#ifndef MM_PAGE_MAGAZINE_H
#define MM_PAGE_MAGAZINE_H

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "sync/spinlock.h"

#define MAGAZINE_PAGES_MAX 64u
#define CHUNK_PAGES_MAX    512u

/* Used by its CPU alone. */
struct frame_cpu {
	CACHE_LINE_ALIGNED struct page *loaded;
	struct page *spare;
	uint32_t loaded_count, spare_count;
	uint64_t fresh, fresh_end; /* frames never handed out: [fresh, fresh_end) */
	struct page *away;
	uint32_t away_count;
	uint16_t node;   /* read only */
	uint16_t victim; /* whose shelf had something last: an index into cpus */
};

struct frame_shelf {
	CACHE_LINE_ALIGNED struct spinlock lock;
	/* Protected by the lock; others may look at the atomic ones to see that there is nothing. */
	struct page *magazines;
	_Atomic uint64_t magazine_count;
	_Atomic uint64_t fresh;
	uint64_t fresh_end;
};

struct frame_depot {
	CACHE_LINE_ALIGNED struct spinlock lock;
	/* As in a shelf. */
	struct page *magazines;
	_Atomic uint64_t magazine_count;
	/* The bump pointer over the node's frames that were never handed out; may run past the end. */
	CACHE_LINE_ALIGNED _Atomic uint64_t fresh;
	/* Read only: the node's last frame + 1, and its CPUs' place in magazines->cpus. */
	CACHE_LINE_ALIGNED uint64_t end;
	unsigned first_cpu, end_cpu;
};

struct magazines {
	/* All of it is read only. */
	uint64_t magazine_pages; /* of a full magazine */
	uint64_t chunk_pages;
	struct percpu cpu;          /* of struct frame_cpu */
	struct percpu shelf;        /* of struct frame_shelf */
	struct frame_depot **depot; /* [nodes] */
	uint16_t *cpus;             /* all CPUs, node by node */
};

#endif
