/* SPDX-License-Identifier: MIT */
/*
 * The page index of an object: a radix tree of 64-way nodes from index to page. In the place of a page there
 * can be a tag, which says what has become of it: mm/object/index_entry.h. Readers walk it in RCU read
 * sections and lock nothing, whatever the policy `page_index` says of those who change it:
 *
 *   lockless   a slot goes from one entry to another by compare-and-swap, and so does what is missing on the
 *              way down. CPUs that insert in different 2 MiB write no common line: eight slots of a line of
 *              the second level are eight nodes of 64 pages.
 *   tree_lock  under one spinlock on the line of the root, with a count of pages on the next: the page cache
 *              of Linux 2.6.27 to 4.16, whose tree this is too.
 *
 * The tree grows at its root: a new node gets the old root as its first child. It never shrinks, but nodes
 * beyond an end that nobody inserts at any more can be taken away.
 *
 * Which pages are dirty stands in the nodes too, so that write-back need not look at those that are not: a
 * bit for each slot in the lowest node, and a bit in the slot above that leads to it: lines of the page's own
 * 2 MiB. They are hints for who looks again and again: a page becomes PG_dirty first and its bits come after;
 * who looks clears the bits first and looks at PG_dirty after.
 *
 * Exclusion matrix:
 *
 *                     find, next, mark  insert  replace  prune
 *   find, next, mark    yes               yes     yes      yes
 *   insert              yes               yes     yes      no: in its range, see there
 *   replace             yes               yes     yes      yes
 *   prune               yes                                no: the caller's lock
 */
#ifndef MM_OBJECT_PAGE_INDEX_H
#define MM_OBJECT_PAGE_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/message.h"
#include "mm/object/index_entry.h"
#include "mm/object/index_nodes.h"
#include "mm/page/page.h"
#include "mm/policy/policy.h"
#include "sync/spinlock.h"

struct page_index {
	/* The root node, with its level (1: its slots are pages) in the low bits; 0: empty. RCU. */
	CACHE_LINE_ALIGNED _Atomic uintptr_t root;
	struct spinlock tree_lock; /* of the policy `tree_lock` */
	/*
	 * With `tree_lock`, or if asked for, the number of pages, those in swap included. Atomic; with
	 * `tree_lock` by that. A line of its own: in struct address_space of 2.6.35 nrpages stands 48 bytes
	 * behind the lock and 56 behind the root, in objects that are aligned to 8.
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
	 * Puts `page` at `at` (below PAGE_INDEX_END), where nothing is, or a shadow. Returns 0 with what was
	 * there in *found; -EEXIST when a page is there or is in swap, which *found says; -ENOMEM without a
	 * frame for a node. In an RCU read section; takes tree_lock, or nothing. Sequentially consistent, as
	 * seen by who walks after a fence. Part of the fault path.
	 */
	int (*insert)(struct page_index *index, uint64_t at, struct page *page, uintptr_t *found);

	/*
	 * Makes the entry `from`, which is not empty, one that is `to`. Returns whether it was `from`: to one
	 * caller. In an RCU read section. Sequentially consistent. Part of the fault path.
	 */
	bool (*replace)(struct page_index *index, uint64_t at, uintptr_t from, uintptr_t to);
};

/* By enum policy_page_index. */
extern const struct page_index_ops *const page_index_choices[];

/* Makes an empty index. `counted`: count is kept with every policy. Needs no memory. */
void page_index_init(struct page_index *index, const struct page_index_ops *ops, struct index_nodes *nodes,
		     bool counted);

/*
 * Returns the entry at `at` (any number), or the page, or NULL. In an RCU read section. Writes nothing. Part
 * of the fault path.
 */
uintptr_t page_index_load(const struct page_index *index, uint64_t at);
static inline struct page *page_index_find(const struct page_index *index, uint64_t at)
{
	return index_entry_page(page_index_load(index, at));
}

/* Returns the first entry, or page, in [*at, end), with its index in *at; or 0. In an RCU read section. */
uintptr_t page_index_next_entry(const struct page_index *index, uint64_t *at, uint64_t end);
struct page *page_index_next(const struct page_index *index, uint64_t *at, uint64_t end);

/*
 * Says that the page at `at` has become PG_dirty: after that. Writes only where it was not said before. In an
 * RCU read section. Part of the fault path.
 */
void page_index_mark_dirty(struct page_index *index, uint64_t at);

/*
 * Finds the first index in [*at, end) of a page that may be dirty, and takes the mark from it: who calls this
 * looks at PG_dirty afterwards. Returns false, with *at at the end, when there is none. In an RCU read
 * section; the caller keeps prune away.
 */
bool page_index_take_dirty(struct page_index *index, uint64_t *at, uint64_t end);

/*
 * Whether there are nodes of pages from `from` on and of none before; and takes them away, to be freed after
 * a grace period. The caller sees to it that nobody inserts there: a grace period has passed since whoever
 * begins to insert knows better. Nothing is there.
 */
bool page_index_prunable(const struct page_index *index, uint64_t from);
void page_index_prune(struct page_index *index, uint64_t from);

/* Frees all nodes at once; nothing but shadows is left and nobody walks. */
void page_index_destroy(struct page_index *index);

/* How many nodes it has, while nothing runs, or of a moment. In an RCU read section. */
uint64_t page_index_nodes(const struct page_index *index);

/*
 * Checks the shape while nothing runs, and that `count` is `pages`, with those in swap, if it is kept.
 * Returns 0, or -EINVAL with what is broken.
 */
int page_index_check(const struct page_index *index, uint64_t pages, struct message *why);

#endif
