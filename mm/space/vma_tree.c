/* SPDX-License-Identifier: MIT */
/*
 * Looking things up in a VMA tree. A reader loads the root once and stays in the tree that it found there:
 * nodes never change, so all it sees fits together, however many changes are committed meanwhile.
 */
#include "mm/space/vma_tree.h"

#include "mm/space/vma_node.h"
#include "sync/rcu.h"

/* No VMA starts at the last byte of all, so a search for the one before finds the same. */
static uintptr_t searchable(uintptr_t address)
{
	return address - (address == UINTPTR_MAX);
}

void vma_tree_init(struct vma_tree *tree, struct vma_node_cache *nodes)
{
	atomic_init(&tree->root, NULL);
	tree->nodes = nodes;
}

/* The recursion is as deep as the tree is high. */
static void put_below(struct vma_node_cache *nodes, struct vma_node *node)
{
	if (node->level)
		for (unsigned i = 0; i < node->count; i++)
			put_below(nodes, node->children[i]);
	vma_node_put(nodes, node);
}

void vma_tree_destroy(struct vma_tree *tree)
{
	struct vma_node *root = rcu_dereference_locked(&tree->root);

	if (root)
		put_below(tree->nodes, root);
	atomic_store_explicit(&tree->root, NULL, memory_order_relaxed);
}

struct vma *vma_tree_find(const struct vma_tree *tree, uintptr_t address)
{
	const struct vma_node *node = rcu_dereference_or_locked(&tree->root);
	struct vma *vma;

	if (!node)
		return NULL;
	address = searchable(address);
	while (node->level)
		node = node->children[vma_node_search(node, address)];
	vma = node->vmas[vma_node_search(node, address)];
	return address - vma->start < vma->end - vma->start ? vma : NULL;
}

struct vma *vma_tree_next(const struct vma_tree *tree, uintptr_t address)
{
	const struct vma_node *node = rcu_dereference_or_locked(&tree->root), *right = NULL;
	unsigned at;

	if (!node)
		return NULL;
	address = searchable(address);
	while (node->level) {
		at = vma_node_search(node, address);
		/* The subtree after the path: the deepest one is the nearest. */
		if (at + 1 < node->count)
			right = node->children[at + 1];
		node = node->children[at];
	}
	at = vma_node_search(node, address);
	if (node->vmas[at]->end > address)
		return node->vmas[at];
	if (at + 1 < node->count)
		return node->vmas[at + 1];
	if (!right)
		return NULL;
	while (right->level)
		right = right->children[0];
	return right->vmas[0];
}

struct vma *vma_tree_previous(const struct vma_tree *tree, uintptr_t address)
{
	const struct vma_node *node = rcu_dereference_or_locked(&tree->root);
	struct vma *vma;

	if (!node || !address)
		return NULL;
	while (node->level)
		node = node->children[vma_node_search(node, address - 1)];
	vma = node->vmas[vma_node_search(node, address - 1)];
	/* Keys are exact: only where every VMA starts later does the search end at one that does. */
	return vma->start < address ? vma : NULL;
}
