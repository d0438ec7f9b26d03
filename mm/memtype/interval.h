/* SPDX-License-Identifier: MIT */
/*
 * A set of intervals that may overlap: a balanced (AVL) tree ordered by start, then end, then address of the
 * node. Each node knows the greatest end below it, so a search skips every subtree that ends too early.
 * Nodes stand inside their users' structures; the tree allocates nothing. The caller locks.
 */
#ifndef MM_MEMTYPE_INTERVAL_H
#define MM_MEMTYPE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct interval {
	uint64_t start, end; /* [start, end), start < end; not to be changed while in a tree */
	uint64_t max_end;    /* of this node and all below it */
	struct interval *left, *right;
	int height; /* of the subtree, 1 for a leaf */
};

struct interval_tree {
	struct interval *root;
};

/* Adds `interval`, whose start and end are set. O(log n). */
void interval_insert(struct interval_tree *tree, struct interval *interval);

/* Takes out `interval`, which is in the tree. O(log n). */
void interval_remove(struct interval_tree *tree, struct interval *interval);

/* Returns the first interval in order that overlaps [start, end), or NULL. O(log n). */
struct interval *interval_first(const struct interval_tree *tree, uint64_t start, uint64_t end);

/* Returns the next in order after `interval`, of those that overlap [start, end), or NULL. O(log n). */
struct interval *interval_next(const struct interval_tree *tree, const struct interval *interval,
			       uint64_t start, uint64_t end);

/* Returns the first interval that is exactly [start, end), or NULL. */
struct interval *interval_exact(const struct interval_tree *tree, uint64_t start, uint64_t end);

/* Returns whether order, balance and max_end hold everywhere. O(n). */
bool interval_tree_valid(const struct interval_tree *tree);

#endif
