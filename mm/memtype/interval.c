/* SPDX-License-Identifier: MIT */
/*
 * Recursion is as deep as the tree is high: below 1.45 log2(n).
 */
#include "mm/memtype/interval.h"

#include <stddef.h>

#include "port/panic.h"

static int height(const struct interval *node)
{
	return node ? node->height : 0;
}

static int balance(const struct interval *node)
{
	return height(node->left) - height(node->right);
}

/* Negative, zero or positive as `a` comes before, is, or comes after `b`. */
static int compare(const struct interval *a, const struct interval *b)
{
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a != b)
		return (uintptr_t)a < (uintptr_t)b ? -1 : 1;
	return 0;
}

/* Brings height and max_end of `node` in line with its children. */
static void update(struct interval *node)
{
	int left = height(node->left), right = height(node->right);

	node->height = 1 + (left > right ? left : right);
	node->max_end = node->end;
	if (node->left && node->left->max_end > node->max_end)
		node->max_end = node->left->max_end;
	if (node->right && node->right->max_end > node->max_end)
		node->max_end = node->right->max_end;
}

static struct interval *rotate_right(struct interval *node)
{
	struct interval *top = node->left;

	node->left = top->right;
	top->right = node;
	update(node);
	update(top);
	return top;
}

static struct interval *rotate_left(struct interval *node)
{
	struct interval *top = node->right;

	node->right = top->left;
	top->left = node;
	update(node);
	update(top);
	return top;
}

/* Returns the root of the subtree of `node`, whose sides differ by at most two, made to differ by one. */
static struct interval *rebalance(struct interval *node)
{
	update(node);
	if (balance(node) > 1) {
		if (balance(node->left) < 0)
			node->left = rotate_left(node->left);
		return rotate_right(node);
	}
	if (balance(node) < -1) {
		if (balance(node->right) > 0)
			node->right = rotate_right(node->right);
		return rotate_left(node);
	}
	return node;
}

static struct interval *insert_below(struct interval *node, struct interval *interval)
{
	if (!node)
		return interval;
	if (compare(interval, node) < 0)
		node->left = insert_below(node->left, interval);
	else
		node->right = insert_below(node->right, interval);
	return rebalance(node);
}

/* Takes the first node of the subtree out into *first. */
static struct interval *take_first(struct interval *node, struct interval **first)
{
	if (!node->left) {
		*first = node;
		return node->right;
	}
	node->left = take_first(node->left, first);
	return rebalance(node);
}

static struct interval *remove_below(struct interval *node, struct interval *interval)
{
	int order;

	invariant(node);
	order = compare(interval, node);
	if (order < 0) {
		node->left = remove_below(node->left, interval);
	} else if (order > 0) {
		node->right = remove_below(node->right, interval);
	} else if (!node->right) {
		return node->left;
	} else {
		struct interval *next, *right = take_first(node->right, &next);

		next->left = node->left;
		next->right = right;
		node = next;
	}
	return rebalance(node);
}

/* The first overlapping node of the subtree in order that comes after `after` (NULL: any). */
static struct interval *first_below(struct interval *node, const struct interval *after, uint64_t start,
				    uint64_t end)
{
	while (node && node->max_end > start) {
		bool follows = !after || compare(node, after) > 0;
		struct interval *found;

		/* What is on the left of a node that does not follow `after` does not follow it either. */
		if (follows) {
			found = first_below(node->left, after, start, end);
			if (found)
				return found;
			if (node->start >= end)
				return NULL;
			if (node->end > start)
				return node;
		}
		node = node->right;
	}
	return NULL;
}

void interval_insert(struct interval_tree *tree, struct interval *interval)
{
	invariant(interval->start < interval->end);
	interval->left = interval->right = NULL;
	update(interval);
	tree->root = insert_below(tree->root, interval);
}

void interval_remove(struct interval_tree *tree, struct interval *interval)
{
	tree->root = remove_below(tree->root, interval);
}

struct interval *interval_first(const struct interval_tree *tree, uint64_t start, uint64_t end)
{
	return first_below(tree->root, NULL, start, end);
}

struct interval *interval_next(const struct interval_tree *tree, const struct interval *interval,
			       uint64_t start, uint64_t end)
{
	return first_below(tree->root, interval, start, end);
}

struct interval *interval_exact(const struct interval_tree *tree, uint64_t start, uint64_t end)
{
	struct interval *node = tree->root, *found = NULL;

	while (node) {
		bool before = node->start != start ? node->start < start : node->end < end;

		if (node->start == start && node->end == end)
			found = node;
		node = before ? node->right : node->left;
	}
	return found;
}

static bool valid_below(const struct interval *node, const struct interval **last)
{
	int left, right, higher;
	uint64_t max_end;

	if (!node)
		return true;
	if (!valid_below(node->left, last))
		return false;
	if (node->start >= node->end || (*last && compare(*last, node) >= 0))
		return false;
	*last = node;
	if (!valid_below(node->right, last))
		return false;
	left = height(node->left);
	right = height(node->right);
	higher = left > right ? left : right;
	max_end = node->end;
	if (node->left && node->left->max_end > max_end)
		max_end = node->left->max_end;
	if (node->right && node->right->max_end > max_end)
		max_end = node->right->max_end;
	return node->height == higher + 1 && left - right <= 1 && right - left <= 1 &&
	       node->max_end == max_end;
}

bool interval_tree_valid(const struct interval_tree *tree)
{
	const struct interval *last = NULL;

	return valid_below(tree->root, &last);
}
