/* SPDX-License-Identifier: MIT */
/*
 * Finding a gap. A subtree in which no gap is large enough is skipped; one whose gaps are, but outside of
 * [low, high), lies at one of the two ends of the range, so at most two nodes a level are looked at in vain.
 */
#include "mm/space/vma_tree.h"

#include "mm/space/vma_node.h"
#include "sync/rcu.h"

#define NO_GAP UINTPTR_MAX

struct gap_request {
	uintptr_t low, high, length;
	uint32_t pages; /* the length as the nodes count gaps */
};

static struct gap_request request_of(uintptr_t low, uintptr_t high, uintptr_t length)
{
	return (struct gap_request){
	    .low = low, .high = high, .length = length, .pages = vma_gap_pages(length)};
}

/* Cuts [*start, *end) down to the part in the request's range, and returns whether that is large enough. */
static bool fits(const struct gap_request *request, uintptr_t *start, uintptr_t *end)
{
	if (*start < request->low)
		*start = request->low;
	if (*end > request->high)
		*end = request->high;
	return *end > *start && *end - *start >= request->length;
}

static uintptr_t fit_at_end(const struct gap_request *request, uintptr_t start, uintptr_t end)
{
	return fits(request, &start, &end) ? end - request->length : NO_GAP;
}

static uintptr_t fit_at_start(const struct gap_request *request, uintptr_t start, uintptr_t end)
{
	return fits(request, &start, &end) ? start : NO_GAP;
}

/* Where what comes before entry `i`, which is not 0, ends. */
static uintptr_t end_before(const struct vma_node *node, unsigned i)
{
	return node->level ? vma_node_end(node->children[i - 1]) : node->vmas[i - 1]->end;
}

static uintptr_t highest_below(const struct vma_node *node, const struct gap_request *request)
{
	for (unsigned i = node->count; i-- > 0;) {
		uintptr_t found = NO_GAP;

		if (node->gaps[i] >= request->pages) {
			if (node->level && node->keys[i] < request->high)
				found = highest_below(node->children[i], request);
			if (found == NO_GAP && i > 0)
				found = fit_at_end(request, end_before(node, i), node->keys[i]);
		}
		if (found != NO_GAP || node->keys[i] <= request->low)
			return found;
	}
	return NO_GAP;
}

static uintptr_t lowest_below(const struct vma_node *node, const struct gap_request *request)
{
	for (unsigned i = 0; i < node->count; i++) {
		uintptr_t found = NO_GAP;

		/* The next one starts at or below `low`, so each gap that this one accounts for ends there.
		 */
		if (i + 1 < node->count && node->keys[i + 1] <= request->low)
			continue;
		if (node->gaps[i] >= request->pages) {
			if (i > 0)
				found = fit_at_start(request, end_before(node, i), node->keys[i]);
			if (found == NO_GAP && node->level && node->keys[i] < request->high)
				found = lowest_below(node->children[i], request);
		}
		if (found != NO_GAP || node->keys[i] >= request->high)
			return found;
	}
	return NO_GAP;
}

uintptr_t vma_tree_gap_topdown(const struct vma_tree *tree, uintptr_t low, uintptr_t high, uintptr_t length)
{
	const struct vma_node *root = rcu_dereference_locked(&tree->root);
	struct gap_request request = request_of(low, high, length);
	uintptr_t found;

	if (!root)
		return fit_at_end(&request, low, high);
	found = fit_at_end(&request, vma_node_end(root), high);
	if (found == NO_GAP)
		found = highest_below(root, &request);
	if (found == NO_GAP)
		found = fit_at_end(&request, low, root->keys[0]);
	return found;
}

uintptr_t vma_tree_gap_bottomup(const struct vma_tree *tree, uintptr_t low, uintptr_t high, uintptr_t length)
{
	const struct vma_node *root = rcu_dereference_locked(&tree->root);
	struct gap_request request = request_of(low, high, length);
	uintptr_t found;

	if (!root)
		return fit_at_start(&request, low, high);
	found = fit_at_start(&request, low, root->keys[0]);
	if (found == NO_GAP)
		found = lowest_below(root, &request);
	if (found == NO_GAP)
		found = fit_at_start(&request, vma_node_end(root), high);
	return found;
}
