/* SPDX-License-Identifier: MIT */
/*
 * The page index of an object: a radix tree of 64-way nodes from index to page. Readers walk it in RCU read
 * sections and lock nothing, whatever the policy `page_index` says of those who change it:
 *
 *   lockless   a slot goes from empty to a page, or back, by compare-and-swap, and so does what is missing on
 *              the way down. CPUs that insert in different 2 MiB write no common line: eight slots of a line
 *              of the second level are eight nodes of 64 pages.
 *   tree_lock  under one spinlock on the line of the root, with a count of pages on the next: the page cache
 *              of Linux 2.6.27 to 4.16, whose tree this is too.
 *
 * The tree grows at its root: a new node gets the old root as its first child. It never shrinks, but nodes
 * beyond an end that nobody inserts at any more can be taken away.
 *
 * Exclusion matrix:
 *
 *              find, next  insert  remove  prune
 *   find, next    yes       yes     yes     yes
 *   insert        yes       yes     yes     no: in its range, see there
 *   remove        yes       yes     yes     yes
 *   prune         yes                       no: the caller's lock
 */
#ifndef MM_OBJECT_PAGE_INDEX_H
#define MM_OBJECT_PAGE_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/message.h"
#include "mm/object/index_nodes.h"
#include "mm/page/page.h"
#include "mm/policy/policy.h"
#include "sync/spinlock.h"

struct page_index {
	/* The root node, with its level (1: its slots are pages) in the low bits; 0: empty. RCU. */
	CACHE_LINE_ALIGNED _Atomic uintptr_t root;
	struct spinlock tree_lock; /* of the policy `tree_lock` */
	/*
	 * With `tree_lock`, or if asked for, the number of pages. Atomic; with `tree_lock` by that. A line of
	 * its own: in struct address_space of 2.6.35 nrpages stands 48 bytes behind the lock and 56 behind
	 * the root, in objects that are aligned to 8.
	 */
	CACHE_LINE_ALIGNED _Atomic uint64_t count;
	/* Read only, and not read by who finds. */
	CACHE_LINE_ALIGNED const struct page_index_ops *ops;
	struct index_nodes *nodes;
	bool counted;
};

/* One past the last index: a byte's offset has 63 bits. */
#define PAGE_INDEX_END (UINT64_C(1) << (63 - PORT_PAGE_SHIFT))

struct page_index_ops {
	/*
	 * Puts `page` at `at` (below PAGE_INDEX_END), where nothing is. Returns 0; -EEXIST when something is,
	 * in *found; -ENOMEM without a frame for a node. In an RCU read section; takes tree_lock, or nothing.
	 * Sequentially consistent, as seen by who walks after a fence. Part of the fault path.
	 */
	int (*insert)(struct page_index *index, uint64_t at, struct page *page, struct page **found);

	/* Takes `page` away from `at`. Returns whether it was there: to one caller. In an RCU read section.
	 */
	bool (*remove)(struct page_index *index, uint64_t at, struct page *page);
};

/* By enum policy_page_index. */
extern const struct page_index_ops *const page_index_choices[];

/* Makes an empty index. `counted`: count is kept with every policy. Needs no memory. */
void page_index_init(struct page_index *index, const struct page_index_ops *ops, struct index_nodes *nodes,
		     bool counted);

/*
 * Returns the page at `at` (any number), or NULL. In an RCU read section. Writes nothing. Part of the fault
 * path.
 */
struct page *page_index_find(const struct page_index *index, uint64_t at);

/* Returns the first page in [*at, end), with its index in *at; or NULL. In an RCU read section. */
struct page *page_index_next(const struct page_index *index, uint64_t *at, uint64_t end);

/*
 * Whether there are nodes of pages from `from` on and of none before; and takes them away, to be freed after
 * a grace period. The caller sees to it that nobody inserts there: a grace period has passed since whoever
 * begins to insert knows better. No page is there.
 */
bool page_index_prunable(const struct page_index *index, uint64_t from);
void page_index_prune(struct page_index *index, uint64_t from);

/* Frees all nodes at once; no page is left and nobody walks. */
void page_index_destroy(struct page_index *index);

/* How many nodes it has, while nothing runs, or of a moment. In an RCU read section. */
uint64_t page_index_nodes(const struct page_index *index);

/*
 * Checks the shape while nothing runs, and that `count` is `pages` if it is kept. Returns 0, or -EINVAL with
 * what is broken.
 */
int page_index_check(const struct page_index *index, uint64_t pages, struct message *why);

#endif
