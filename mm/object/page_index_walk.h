/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/object/: how a page index is laid out. The slot of a node of level L stands for 64^(L-1)
 * indices.
 */
#ifndef MM_OBJECT_PAGE_INDEX_WALK_H
#define MM_OBJECT_PAGE_INDEX_WALK_H

#include "mm/object/page_index.h"
#include "sync/rcu.h"

/* As many levels as an index of 51 bits needs. */
#define INDEX_LEVELS_MAX 9u

/* Nodes start on cache lines, so the root's level has room in its pointer. */
#define ROOT_LEVEL_MASK ((uintptr_t)CACHE_LINE_BYTES - 1)

extern const struct page_index_ops page_index_lockless_ops;
extern const struct page_index_ops page_index_tree_lock_ops;

/* In a slot that leads to a node of the lowest level: that may have dirty pages. */
#define SLOT_DIRTY ((uintptr_t)1)

static inline struct index_node *slot_node(uintptr_t slot)
{
	return (struct index_node *)(slot & ~SLOT_DIRTY);
}

static inline struct index_node *root_node(uintptr_t root)
{
	return (struct index_node *)(root & ~ROOT_LEVEL_MASK);
}

static inline unsigned root_level(uintptr_t root)
{
	return (unsigned)(root & ROOT_LEVEL_MASK);
}

static inline uintptr_t make_root(struct index_node *node, unsigned level)
{
	return (uintptr_t)node | level;
}

/* What a root that grows has in its first slot: of a lowest node it is not known whether it has dirty pages.
 */
static inline uintptr_t first_child(uintptr_t root)
{
	return (uintptr_t)root_node(root) | (root_level(root) == 1 ? SLOT_DIRTY : 0);
}

/* How many indices one slot of `level` stands for. */
static inline uint64_t index_span(unsigned level)
{
	return UINT64_C(1) << INDEX_SHIFT * (level - 1);
}

static inline unsigned index_slot_number(uint64_t at, unsigned level)
{
	return (unsigned)(at >> INDEX_SHIFT * (level - 1)) % INDEX_SLOTS;
}

/* Whether a tree of `level` levels has a slot for `at`; with 0 levels it has none. */
static inline bool index_reaches(unsigned level, uint64_t at)
{
	return level && at >> INDEX_SHIFT * level == 0;
}

/* The slot of `at`, NULL if there is none yet. In an RCU read section. */
static inline _Atomic uintptr_t *index_slot(const struct page_index *index, uint64_t at)
{
	uintptr_t root = rcu_dereference(&index->root);
	struct index_node *node = root_node(root);
	unsigned level = root_level(root);

	if (!index_reaches(level, at))
		return NULL;
	for (; level > 1 && node; level--)
		node = slot_node(rcu_dereference(&node->slot[index_slot_number(at, level)]));
	return node ? &node->slot[index_slot_number(at, 1)] : NULL;
}

#endif
