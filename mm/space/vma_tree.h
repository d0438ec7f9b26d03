/* SPDX-License-Identifier: MIT */
/*
 * The VMAs of a space, by address: a B-tree of ranges that readers walk under RCU while one writer changes
 * it.
 *
 * A writer prepares a change completely (every node that it needs), then commits it, which cannot fail and
 * becomes visible to readers in one step: a reader sees the tree before or after, never between, so an
 * address that is mapped before and after is found all the time. Nodes that are no longer reachable are freed
 * after a grace period.
 *
 * Exclusion matrix:
 *                    find/next/previous (RCU)   prepare..commit
 *   find/next/previous        yes                    yes
 *   gap, check                yes               no: the space's lock, for reading or writing
 *   prepare..commit           yes               no: the space's lock for writing
 *   destroy                   no                no
 *
 * Memory: 256 bytes for up to 12 VMAs; for many, 23 (put in at once, by fork) to 43 bytes a VMA.
 */
#ifndef MM_SPACE_VMA_TREE_H
#define MM_SPACE_VMA_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/space/vma.h"
#include "mm/space/vma_node_cache.h"

struct vma_node;

struct vma_tree {
	struct vma_node *_Atomic root; /* RCU; written with the space's lock held; NULL: empty */
	struct vma_node_cache *nodes;  /* read only */
};

/* A change that is prepared: where it goes and the nodes for it. Lives on the writer's stack. */
struct vma_change {
	struct vma_tree *tree;
	struct vma_node *new_root;
	struct vma_node *fresh;      /* all nodes of the change, linked; freed by cancel */
	struct vma_node *fresh_last; /* the last of them */
	struct vma_node *replaced;   /* old nodes that commit retires, linked */
};

/* Makes an empty tree, which takes its nodes from `nodes`. Needs no memory. */
void vma_tree_init(struct vma_tree *tree, struct vma_node_cache *nodes);

/* Frees all nodes, not the VMAs, at once: no reader is left. The tree is empty then. */
void vma_tree_destroy(struct vma_tree *tree);

/*
 * Returns the VMA that holds `address` (any number), or NULL. In an RCU read section, or with the space's
 * lock held. Writes nothing; touches one node a level, and the VMA. Part of the fault path.
 */
struct vma *vma_tree_find(const struct vma_tree *tree, uintptr_t address);

/*
 * Returns the first VMA that ends after `address`, or NULL; and the last one that starts before it, or NULL.
 * As vma_tree_find(). To visit all in [start, end) that a lock keeps in place:
 *	for (vma = vma_tree_next(tree, start); vma && vma->start < end; vma = vma_tree_next(tree, vma->end))
 */
struct vma *vma_tree_next(const struct vma_tree *tree, uintptr_t address);
struct vma *vma_tree_previous(const struct vma_tree *tree, uintptr_t address);

/*
 * Find a gap of `length` bytes (whole pages, not 0) that lies in [low, high): topdown the highest, and
 * returns its last place in that gap, so that the mapping ends where the gap ends; bottomup the lowest, and
 * returns where that starts. UINTPTR_MAX when there is none. O(log n) by gap sizes kept in the nodes. With
 * the space's lock held.
 */
uintptr_t vma_tree_gap_topdown(const struct vma_tree *tree, uintptr_t low, uintptr_t high, uintptr_t length);
uintptr_t vma_tree_gap_bottomup(const struct vma_tree *tree, uintptr_t low, uintptr_t high, uintptr_t length);

/*
 * Prepares that the VMAs which lie in [start, end) (whole pages, start < end) give way to the `count` VMAs in
 * `with`, sorted, not overlapping, all in [start, end). A VMA of the tree that crosses start or end is a
 * broken invariant: the caller splits by replacing it whole. `with` is not needed afterwards; its VMAs are
 * visible to readers from commit on. Returns 0, or -ENOMEM with nothing changed and nothing to cancel.
 *
 * O(log n + VMAs replaced + count). Every change ends in commit or cancel before another is prepared.
 */
int vma_tree_prepare(struct vma_tree *tree, struct vma_change *change, uintptr_t start, uintptr_t end,
		     struct vma *const *with, size_t count);

/*
 * Adds a further replacement to a prepared change, as if that were committed already: one commit makes both
 * visible in one step (a move: one range is filled, another emptied). Returns 0; or -ENOMEM with `change` as
 * it was before this call, still to be committed or cancelled.
 */
int vma_tree_prepare_more(struct vma_change *change, uintptr_t start, uintptr_t end, struct vma *const *with,
			  size_t count);

/* Makes the change visible. The VMAs that it replaced may be freed a grace period later. */
void vma_tree_commit(struct vma_change *change);

/* Forgets the change. */
void vma_tree_cancel(struct vma_change *change);

/*
 * Checks order, levels, fill and gap sizes of every node. Returns 0, or -EINVAL with what is broken. With the
 * space's lock held, no change prepared. O(n).
 */
int vma_tree_check(const struct vma_tree *tree, struct message *why);

#endif
