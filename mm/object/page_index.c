/* SPDX-License-Identifier: MIT */
/*
 * What is the same for both choices: walking, and what happens while nobody inserts.
 */
#include "mm/object/page_index.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/object/page_index_walk.h"
#include "port/panic.h"

const struct page_index_ops *const page_index_choices[] = {
    [POLICY_PAGE_INDEX_LOCKLESS] = &page_index_lockless_ops,
    [POLICY_PAGE_INDEX_TREE_LOCK] = &page_index_tree_lock_ops,
};

void page_index_init(struct page_index *index, const struct page_index_ops *ops, struct index_nodes *nodes,
		     bool counted)
{
	atomic_init(&index->root, 0);
	spin_lock_init(&index->tree_lock, LOCK_RANK_TREE);
	atomic_init(&index->count, 0);
	index->ops = ops;
	index->nodes = nodes;
	index->counted = counted || ops == &page_index_tree_lock_ops;
}

uintptr_t page_index_load(const struct page_index *index, uint64_t at)
{
	_Atomic uintptr_t *slot = index_slot(index, at);

	return slot ? rcu_dereference(slot) : 0;
}

uintptr_t page_index_next_entry(const struct page_index *index, uint64_t *at, uint64_t end)
{
	while (*at < end) {
		uintptr_t root = rcu_dereference(&index->root), found;
		struct index_node *node = root_node(root);
		unsigned level = root_level(root);

		if (!index_reaches(level, *at))
			return 0;
		for (;;) {
			found = rcu_dereference(&node->slot[index_slot_number(*at, level)]);
			if (!found || level == 1)
				break;
			node = slot_node(found);
			level--;
		}
		if (found)
			return found;
		/* On to the next slot of the level that was empty; at a node's end the walk starts over. */
		*at = (*at | (index_span(level) - 1)) + 1;
	}
	return 0;
}

struct page *page_index_next(const struct page_index *index, uint64_t *at, uint64_t end)
{
	uintptr_t entry;

	while ((entry = page_index_next_entry(index, at, end)) & INDEX_TAG)
		(*at)++;
	return index_entry_page(entry);
}

static uint64_t count_nodes(const struct index_node *node, unsigned level)
{
	uint64_t count = 1;

	for (unsigned i = 0; level > 1 && i < INDEX_SLOTS; i++) {
		const struct index_node *child = slot_node(rcu_dereference(&node->slot[i]));

		if (child)
			count += count_nodes(child, level - 1);
	}
	return count;
}

uint64_t page_index_nodes(const struct page_index *index)
{
	uintptr_t root = rcu_dereference(&index->root);

	return root ? count_nodes(root_node(root), root_level(root)) : 0;
}

/* Whether a child of `node`, or one further down, lies wholly in [from, ...): `first` is the node's index. */
static bool has_nodes_from(const struct index_node *node, unsigned level, uint64_t first, uint64_t from)
{
	for (unsigned i = 0; level > 1 && i < INDEX_SLOTS; i++) {
		uint64_t start = first + i * index_span(level);
		const struct index_node *child = slot_node(rcu_dereference(&node->slot[i]));

		if (!child || start + index_span(level) <= from)
			continue;
		if (start >= from || has_nodes_from(child, level - 1, start, from))
			return true;
	}
	return false;
}

bool page_index_prunable(const struct page_index *index, uint64_t from)
{
	uintptr_t root = rcu_dereference(&index->root);

	if (!root)
		return false;
	return from == 0 || has_nodes_from(root_node(root), root_level(root), 0, from);
}

/* What to do with a node that nobody finds any more. */
typedef void give(struct index_nodes *nodes, struct index_node *node);

static void give_subtree(struct index_nodes *nodes, struct index_node *node, unsigned level, give *give)
{
	for (unsigned i = 0; i < INDEX_SLOTS; i++) {
		uintptr_t child = atomic_load_explicit(&node->slot[i], memory_order_relaxed);

		invariant(level > 1 || !index_entry_counts(child));
		if (level > 1 && child)
			give_subtree(nodes, slot_node(child), level - 1, give);
	}
	give(nodes, node);
}

/* The slots beside those that are emptied are others' to change: each is a word of its own. */
static void prune(struct page_index *index, struct index_node *node, unsigned level, uint64_t first,
		  uint64_t from)
{
	for (unsigned i = 0; level > 1 && i < INDEX_SLOTS; i++) {
		uint64_t start = first + i * index_span(level);
		struct index_node *child =
		    slot_node(atomic_load_explicit(&node->slot[i], memory_order_acquire));

		if (!child || start + index_span(level) <= from)
			continue;
		if (start < from) {
			prune(index, child, level - 1, start, from);
			continue;
		}
		atomic_store_explicit(&node->slot[i], 0, memory_order_relaxed);
		give_subtree(index->nodes, child, level - 1, index_node_retire);
	}
}

void page_index_prune(struct page_index *index, uint64_t from)
{
	uintptr_t root = atomic_load_explicit(&index->root, memory_order_acquire);

	if (!root)
		return;
	if (from) {
		prune(index, root_node(root), root_level(root), 0, from);
		return;
	}
	atomic_store_explicit(&index->root, 0, memory_order_relaxed);
	give_subtree(index->nodes, root_node(root), root_level(root), index_node_retire);
}

void page_index_destroy(struct page_index *index)
{
	uintptr_t root = atomic_load_explicit(&index->root, memory_order_relaxed);

	if (root)
		give_subtree(index->nodes, root_node(root), root_level(root), index_node_put);
	atomic_store_explicit(&index->root, 0, memory_order_relaxed);
}

int page_index_check(const struct page_index *index, uint64_t pages, struct message *why)
{
	uintptr_t root = atomic_load_explicit(&index->root, memory_order_relaxed);
	uint64_t count = atomic_load_explicit(&index->count, memory_order_relaxed);

	if (root && (!root_level(root) || root_level(root) > INDEX_LEVELS_MAX))
		return message_set(why, -EINVAL, "a page index of %u levels", root_level(root));
	if (index->counted && count != pages)
		return message_set(why, -EINVAL, "a page index counts %" PRIu64 " pages and has %" PRIu64,
				   count, pages);
	return 0;
}
