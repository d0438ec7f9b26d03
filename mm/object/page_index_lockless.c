/* SPDX-License-Identifier: MIT */
/*
 * The choice `lockless`. All that goes from empty to filled does so by compare-and-swap; who loses gives its
 * node back and goes on with the winner's. A root that grows takes the old one in as its first child, so who
 * still walks the old one ends up in the same nodes.
 *
 * The compare-and-swaps are sequentially consistent: who takes pages away changes the size, then walks; who
 * inserts one looks at the size afterwards. One of the two sees the other, as in docs/LOCKING.md, "A fault
 * and a truncate".
 */
#include <errno.h>

#include "mm/object/page_index_walk.h"

/* Makes the tree high enough for `at`. Returns the root, 0 without a frame. */
static uintptr_t grow(struct page_index *index, uint64_t at)
{
	uintptr_t root = rcu_dereference(&index->root);

	while (!index_reaches(root_level(root), at)) {
		struct index_node *node = index_node_get(index->nodes);
		unsigned level = 1;

		if (!node)
			return 0;
		if (root) {
			level = root_level(root) + 1;
			atomic_store_explicit(&node->slot[0], root_node(root), memory_order_relaxed);
		} else {
			while (!index_reaches(level, at))
				level++;
		}
		if (atomic_compare_exchange_strong_explicit(&index->root, &root, make_root(node, level),
							    memory_order_seq_cst, memory_order_acquire))
			root = make_root(node, level);
		else
			index_node_put(index->nodes, node);
	}
	return root;
}

/* Fills an empty slot with a node. Returns the node that is there now, NULL without a frame. */
static struct index_node *add_node(struct page_index *index, void *_Atomic *slot)
{
	struct index_node *node = index_node_get(index->nodes);
	void *found = NULL;

	if (!node)
		return NULL;
	if (atomic_compare_exchange_strong_explicit(slot, &found, node, memory_order_seq_cst,
						    memory_order_acquire))
		return node;
	index_node_put(index->nodes, node);
	return found;
}

static int insert(struct page_index *index, uint64_t at, struct page *page, struct page **found)
{
	uintptr_t root = grow(index, at);
	struct index_node *node = root_node(root);
	void *there = NULL;

	for (unsigned level = root_level(root); level > 1 && node; level--) {
		void *_Atomic *slot = &node->slot[index_slot_number(at, level)];

		node = rcu_dereference(slot);
		if (!node)
			node = add_node(index, slot);
	}
	if (!node)
		return -ENOMEM;
	if (atomic_compare_exchange_strong_explicit(&node->slot[index_slot_number(at, 1)], &there, page,
						    memory_order_seq_cst, memory_order_acquire)) {
		if (index->counted)
			atomic_fetch_add_explicit(&index->count, 1, memory_order_relaxed);
		return 0;
	}
	*found = there;
	return -EEXIST;
}

static bool remove(struct page_index *index, uint64_t at, struct page *page)
{
	void *_Atomic *slot = index_slot(index, at);
	void *there = page;

	if (!slot || !atomic_compare_exchange_strong_explicit(slot, &there, NULL, memory_order_seq_cst,
							      memory_order_relaxed))
		return false;
	if (index->counted)
		atomic_fetch_sub_explicit(&index->count, 1, memory_order_relaxed);
	return true;
}

const struct page_index_ops page_index_lockless_ops = {.insert = insert, .remove = remove};
