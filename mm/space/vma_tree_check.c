/* SPDX-License-Identifier: MIT */
/*
 * What must hold of a VMA tree. Each VMA is looked at, so nothing is believed that a node says of it.
 */
#include "mm/space/vma_tree.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/space/vma_node.h"
#include "sync/rcu.h"

/* What is known of the VMAs of a subtree. */
struct extent {
	uintptr_t start, end;
	uint32_t gap; /* the greatest inside, as nodes count them */
};

static int broken(struct message *why, const struct vma_node *node, unsigned entry, const char *what)
{
	return message_set(why, -EINVAL, "VMA tree: node of level %u at %#" PRIxPTR ", entry %u: %s",
			   node->level, node->keys[0], entry, what);
}

static int check_fill(const struct vma_node *node, unsigned level, bool root, struct message *why)
{
	unsigned least = !root ? VMA_NODE_MIN : level ? 2 : 1;

	if (node->level != level)
		return broken(why, node, 0, "it stands on another level than it says");
	if (node->count > VMA_NODE_ENTRIES || node->count < least)
		return message_set(why, -EINVAL,
				   "VMA tree: node of level %u at %#" PRIxPTR
				   " has %u entries; wanted %u to %u",
				   level, node->keys[0], node->count, least, VMA_NODE_ENTRIES);
	if (node->fresh || node->dropped)
		return broken(why, node, 0, "it belongs to a change that is not committed");
	for (unsigned i = 0; i < VMA_NODE_ENTRIES; i++)
		if ((node->keys[i] == VMA_KEY_UNUSED) != (i >= node->count))
			return broken(why, node, i,
				      "its key says that it is in use and the count that it is not, "
				      "or the other way around");
	return 0;
}

static int check_below(const struct vma_node *node, unsigned level, bool root, struct extent *extent,
		       struct message *why);

static int check_entry(const struct vma_node *node, unsigned i, struct extent *extent, struct message *why)
{
	const struct vma *vma;

	if (node->level)
		return check_below(node->children[i], node->level - 1u, false, extent, why);
	vma = node->vmas[i];
	if (vma->start >= vma->end || (vma->start | vma->end) % PORT_PAGE_SIZE)
		return broken(why, node, i, "the VMA is empty or not of whole pages");
	*extent = (struct extent){.start = vma->start, .end = vma->end};
	return 0;
}

static int check_below(const struct vma_node *node, unsigned level, bool root, struct extent *extent,
		       struct message *why)
{
	int error = check_fill(node, level, root, why);

	for (unsigned i = 0; !error && i < node->count; i++) {
		struct extent entry;

		error = check_entry(node, i, &entry, why);
		if (error)
			break;
		if (node->keys[i] != entry.start)
			return broken(why, node, i, "its key is not where it starts");
		if (i == 0) {
			*extent = entry;
		} else {
			if (entry.start < extent->end)
				return broken(why, node, i, "it starts before the one in front of it ends");
			if (vma_gap_pages(entry.start - extent->end) > entry.gap)
				entry.gap = vma_gap_pages(entry.start - extent->end);
			if (entry.gap > extent->gap)
				extent->gap = entry.gap;
			extent->end = entry.end;
		}
		if (node->gaps[i] != entry.gap)
			return message_set(why, -EINVAL,
					   "VMA tree: node of level %u at %#" PRIxPTR
					   ", entry %u: a gap of %" PRIu32 " pages; there are %" PRIu32,
					   level, node->keys[0], i, node->gaps[i], entry.gap);
	}
	return error;
}

int vma_tree_check(const struct vma_tree *tree, struct message *why)
{
	const struct vma_node *root = rcu_dereference_locked(&tree->root);
	struct extent extent;

	return root ? check_below(root, root->level, true, &extent, why) : 0;
}
