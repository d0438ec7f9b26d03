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
			atomic_store_explicit(&node->slot[0], first_child(root), memory_order_relaxed);
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
static struct index_node *add_node(struct page_index *index, _Atomic uintptr_t *slot)
{
	struct index_node *node = index_node_get(index->nodes);
	uintptr_t found = 0;

	if (!node)
		return NULL;
	if (atomic_compare_exchange_strong_explicit(slot, &found, (uintptr_t)node, memory_order_seq_cst,
						    memory_order_acquire))
		return node;
	index_node_put(index->nodes, node);
	return slot_node(found);
}

static int insert(struct page_index *index, uint64_t at, struct page *page, uintptr_t *found)
{
	uintptr_t root = grow(index, at), there;
	struct index_node *node = root_node(root);
	_Atomic uintptr_t *slot;

	for (unsigned level = root_level(root); level > 1 && node; level--) {
		slot = &node->slot[index_slot_number(at, level)];
		node = slot_node(rcu_dereference(slot));
		if (!node)
			node = add_node(index, slot);
	}
	if (!node)
		return -ENOMEM;
	slot = &node->slot[index_slot_number(at, 1)];
	there = rcu_dereference(slot);
	do {
		*found = there;
		if (index_entry_counts(there))
			return -EEXIST;
	} while (!atomic_compare_exchange_weak_explicit(slot, &there, index_entry_of_page(page),
							memory_order_seq_cst, memory_order_acquire));
	if (index->counted)
		atomic_fetch_add_explicit(&index->count, 1, memory_order_relaxed);
	return 0;
}

static bool replace(struct page_index *index, uint64_t at, uintptr_t from, uintptr_t to)
{
	_Atomic uintptr_t *slot = index_slot(index, at);
	uintptr_t there = from;
	uint64_t change = (uint64_t)index_entry_counts(to) - index_entry_counts(from);

	if (!slot || !atomic_compare_exchange_strong_explicit(slot, &there, to, memory_order_seq_cst,
							      memory_order_relaxed))
		return false;
	if (index->counted && change)
		atomic_fetch_add_explicit(&index->count, change, memory_order_relaxed);
	return true;
}

const struct page_index_ops page_index_lockless_ops = {.insert = insert, .replace = replace};
