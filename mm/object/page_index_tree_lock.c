/* SPDX-License-Identifier: MIT */
/*
 * The choice `tree_lock`: one lock for each object, taken by every change. Nodes are allocated before, as
 * radix_tree_preload() does, and a page is counted under the lock, as in mapping->nrpages.
 */
#include <errno.h>

#include "mm/object/page_index_walk.h"

/*
 * The most that one insertion takes. Where the tree must grow another CPU can make it grow first, up to the
 * highest there is; nodes below the old root are all that a tree which reaches so far can lack.
 */
static unsigned nodes_needed(const struct page_index *index, uint64_t at)
{
	unsigned level = root_level(atomic_load_explicit(&index->root, memory_order_relaxed));

	if (index_reaches(level, at))
		return level - 1;
	for (level = 1; !index_reaches(level, at); level++)
		;
	return 2 * level > INDEX_LEVELS_MAX ? 2 * level : INDEX_LEVELS_MAX;
}

/* Stores are sequentially consistent as the lockless ones are, for the same look at the size. */
static void set(_Atomic uintptr_t *slot, uintptr_t value)
{
	atomic_store_explicit(slot, value, memory_order_seq_cst);
}

static uintptr_t grow_locked(struct page_index *index, uint64_t at)
{
	uintptr_t root = atomic_load_explicit(&index->root, memory_order_relaxed);

	while (!index_reaches(root_level(root), at)) {
		struct index_node *node = index_node_get(index->nodes);
		unsigned level = 1;

		if (root) {
			level = root_level(root) + 1;
			set(&node->slot[0], first_child(root));
		} else {
			while (!index_reaches(level, at))
				level++;
		}
		root = make_root(node, level);
		atomic_store_explicit(&index->root, root, memory_order_seq_cst);
	}
	return root;
}

/* The lowest node of `at`. */
static struct index_node *node_locked(struct page_index *index, uint64_t at)
{
	uintptr_t root = grow_locked(index, at);
	struct index_node *node = root_node(root);

	for (unsigned level = root_level(root); level > 1; level--) {
		_Atomic uintptr_t *slot = &node->slot[index_slot_number(at, level)];

		node = slot_node(atomic_load_explicit(slot, memory_order_relaxed));
		if (!node) {
			node = index_node_get(index->nodes);
			set(slot, (uintptr_t)node);
		}
	}
	return node;
}

/* Both by tree_lock. */
static void count_locked(struct page_index *index, uint64_t change)
{
	uint64_t count = atomic_load_explicit(&index->count, memory_order_relaxed);

	atomic_store_explicit(&index->count, count + change, memory_order_relaxed);
}

static int insert(struct page_index *index, uint64_t at, struct page *page, uintptr_t *found)
{
	_Atomic uintptr_t *slot;
	int error = index_nodes_preload(index->nodes, nodes_needed(index, at));

	if (error)
		return error;
	spin_lock(&index->tree_lock);
	slot = &node_locked(index, at)->slot[index_slot_number(at, 1)];
	*found = atomic_load_explicit(slot, memory_order_relaxed);
	if (index_entry_counts(*found)) {
		error = -EEXIST;
	} else {
		set(slot, index_entry_of_page(page));
		count_locked(index, 1);
	}
	spin_unlock(&index->tree_lock);
	return error;
}

static bool replace(struct page_index *index, uint64_t at, uintptr_t from, uintptr_t to)
{
	_Atomic uintptr_t *slot = index_slot(index, at);
	bool there;

	if (!slot)
		return false;
	spin_lock(&index->tree_lock);
	there = atomic_load_explicit(slot, memory_order_relaxed) == from;
	if (there) {
		set(slot, to);
		count_locked(index, (uint64_t)index_entry_counts(to) - index_entry_counts(from));
	}
	spin_unlock(&index->tree_lock);
	return there;
}

const struct page_index_ops page_index_tree_lock_ops = {.insert = insert, .replace = replace};
