/* SPDX-License-Identifier: MIT */
/*
 * Inside of the VMA tree: its nodes.
 *
 * A node is four cache lines. In a leaf (level 0) entry i is a VMA; above, it is the node of a subtree. Its
 * key is where the (first) VMA starts. Entries are sorted; keys that are not in use are greater than every
 * address, so a search looks at the keys alone: one line or two, and the line of the entry that it follows.
 *
 * Every node but the root has VMA_NODE_MIN entries or more; a root that is not a leaf has two or more.
 *
 * gaps[i] is the size of the greatest gap that entry i accounts for, in pages, at most UINT32_MAX which says
 * "that or more":
 *   in a leaf     the gap between VMA i - 1 and VMA i of the same leaf; 0 for i = 0
 *   above         the greater of all gaps inside subtree i and of that between subtrees i - 1 and i; for
 *                 i = 0 only of those inside
 * So it depends on nothing outside the node's own subtree, and a change updates the nodes of its path alone.
 *
 * A node that a reader can reach never changes, except in the fields at its end, which readers do not look
 * at: who looks at gaps holds the space's lock, so no node that it reaches is retired.
 */
#ifndef MM_SPACE_VMA_NODE_H
#define MM_SPACE_VMA_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/space/vma.h"
#include "mm/space/vma_node_cache.h"
#include "port/page.h"
#include "port/rcu.h"

#define VMA_NODE_ENTRIES 12u
#define VMA_NODE_MIN     6u

/* Levels of the highest tree: far more VMAs than there is memory for. */
#define VMA_TREE_LEVELS 16u

#define VMA_KEY_UNUSED UINTPTR_MAX
#define VMA_GAP_MAX    UINT32_MAX

struct vma_node {
	CACHE_LINE_ALIGNED uint8_t level; /* 0: a leaf */
	uint8_t count;                    /* entries in use, 1 to VMA_NODE_ENTRIES */
	bool fresh;                       /* made by a change that is not committed: no reader knows it */
	bool dropped;                     /* fresh, and replaced again by the same change */
	uintptr_t keys[VMA_NODE_ENTRIES];
	union {
		struct vma *vmas[VMA_NODE_ENTRIES];
		struct vma_node *children[VMA_NODE_ENTRIES];
	};
	union {
		uint32_t gaps[VMA_NODE_ENTRIES];
		struct { /* of the first of a chain that waits for a grace period */
			struct port_rcu_head rcu;
			struct vma_node_cache *cache;
		} retired;
	};
	struct vma_node *link; /* the next of a change's fresh or replaced nodes, or of free ones */
};

_Static_assert(sizeof(struct vma_node) == 256, "four cache lines");

/* Returns the last entry that starts at or below `address`, which is not UINTPTR_MAX; 0 if none does. */
static inline unsigned vma_node_search(const struct vma_node *node, uintptr_t address)
{
	const uintptr_t *keys = node->keys;
	unsigned at;

	/* Four looks instead of eleven, and no branch that could be predicted wrongly. */
	_Static_assert(VMA_NODE_ENTRIES == 2 * 2 * 3, "the steps below");
	at = 6u * (keys[6] <= address);
	at += 3u * (keys[at + 3] <= address);
	return at + (keys[at + 1] <= address) + (keys[at + 2] <= address);
}

/* Where the last VMA of the node's subtree ends. */
static inline uintptr_t vma_node_end(const struct vma_node *node)
{
	while (node->level)
		node = node->children[node->count - 1];
	return node->vmas[node->count - 1]->end;
}

/* The greatest gap inside the node's subtree, in pages as gaps[] counts them. */
static inline uint32_t vma_node_gap(const struct vma_node *node)
{
	uint32_t greatest = 0;

	for (unsigned i = 0; i < node->count; i++)
		if (node->gaps[i] > greatest)
			greatest = node->gaps[i];
	return greatest;
}

/* `bytes` in pages, as gaps[] counts them. */
static inline uint32_t vma_gap_pages(uintptr_t bytes)
{
	uintptr_t pages = bytes >> PORT_PAGE_SHIFT;

	return pages < VMA_GAP_MAX ? (uint32_t)pages : VMA_GAP_MAX;
}

/* Takes a node, whose fields hold anything; NULL when there is no memory. Gives one back that nobody sees. */
struct vma_node *vma_node_get(struct vma_node_cache *cache);
void vma_node_put(struct vma_node_cache *cache, struct vma_node *node);

/* Gives back the whole chain that starts with `node`, a grace period from now. */
void vma_node_retire(struct vma_node_cache *cache, struct vma_node *node);

#endif
