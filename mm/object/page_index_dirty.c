/* SPDX-License-Identifier: MIT */
/*
 * Which pages of an index may be dirty. The bit of a page stands in its lowest node, and another in the slot
 * that leads there. Who sets them goes upwards, who clears them clears the upper one first and then looks at
 * what is below: all sequentially consistent, so that one of the two sees the other, and no bit is lost for
 * good.
 */
#include "mm/object/page_index_walk.h"

/* The way to the lowest node of an index. */
struct path {
	uintptr_t root;
	_Atomic uintptr_t *slot; /* that leads there; NULL: the root does */
	struct index_node *node; /* NULL: there is none */
	unsigned level;          /* of what is missing then */
};

static void walk(const struct page_index *index, uint64_t at, struct path *path)
{
	unsigned level;

	path->root = atomic_load_explicit(&index->root, memory_order_seq_cst);
	path->slot = NULL;
	level = root_level(path->root);
	path->node = index_reaches(level, at) ? root_node(path->root) : NULL;
	for (; level > 1 && path->node; level--) {
		path->slot = &path->node->slot[index_slot_number(at, level)];
		path->node = slot_node(rcu_dereference(path->slot));
		path->level = level;
	}
}

static bool is_marked(_Atomic uintptr_t *slot)
{
	return (atomic_load_explicit(slot, memory_order_seq_cst) & SLOT_DIRTY) != 0;
}

/* Not in an empty slot: its node has just been taken away. */
static void mark(_Atomic uintptr_t *slot)
{
	uintptr_t old = atomic_load_explicit(slot, memory_order_seq_cst);

	while (old && !(old & SLOT_DIRTY) &&
	       !atomic_compare_exchange_weak_explicit(slot, &old, old | SLOT_DIRTY, memory_order_seq_cst,
						      memory_order_seq_cst))
		;
}

/* Has looked at a node and found nothing. */
static void unmark(_Atomic uintptr_t *slot, struct index_node *node)
{
	atomic_fetch_and_explicit(slot, ~SLOT_DIRTY, memory_order_seq_cst);
	if (atomic_load_explicit(&node->dirty, memory_order_seq_cst))
		mark(slot);
}

/* A root that has grown since has another slot above the node: the way is gone once more. */
void page_index_mark_dirty(struct page_index *index, uint64_t at)
{
	uint64_t bit = UINT64_C(1) << index_slot_number(at, 1);
	struct path path;

	do {
		walk(index, at, &path);
		if (!path.node)
			return;
		if (!(atomic_load_explicit(&path.node->dirty, memory_order_seq_cst) & bit))
			atomic_fetch_or_explicit(&path.node->dirty, bit, memory_order_seq_cst);
		if (path.slot)
			mark(path.slot);
	} while (!path.slot && atomic_load_explicit(&index->root, memory_order_seq_cst) != path.root);
}

/* The first index in [at, end) whose bit was set, in a node that has them from at on; or `end`. */
static uint64_t take_from_node(struct index_node *node, uint64_t at, uint64_t end)
{
	unsigned first = index_slot_number(at, 1);
	uint64_t dirty = atomic_load_explicit(&node->dirty, memory_order_seq_cst) >> first << first;

	for (; dirty; dirty &= dirty - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(dirty);
		uint64_t bit = UINT64_C(1) << slot, found = at - first + slot;

		if (found >= end)
			break;
		if (atomic_fetch_and_explicit(&node->dirty, ~bit, memory_order_seq_cst) & bit)
			return found;
	}
	return end;
}

bool page_index_take_dirty(struct page_index *index, uint64_t *at, uint64_t end)
{
	while (*at < end) {
		struct path path;
		uint64_t next, found;

		walk(index, *at, &path);
		if (!path.node && !path.slot)
			break;
		next = (*at | (index_span(path.node ? 2 : path.level) - 1)) + 1;
		if (next > end)
			next = end;
		if (path.node && (!path.slot || is_marked(path.slot))) {
			found = take_from_node(path.node, *at, next);
			if (found < next) {
				*at = found;
				return true;
			}
			if (path.slot && !atomic_load_explicit(&path.node->dirty, memory_order_seq_cst))
				unmark(path.slot, path.node);
		}
		*at = next;
	}
	*at = end;
	return false;
}
