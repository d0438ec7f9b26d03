/* SPDX-License-Identifier: MIT */
/*
 * Changing a VMA tree. No node that readers know is written: level by level, from the leaves to the root, the
 * nodes that hold the range are replaced by new ones. On each level the new nodes hold, in this order,
 *
 *     what the first old node has before the range,
 *     what the range gets: the new VMAs, or the nodes that were made on the level below,
 *     what the last old node has after the range,
 *
 * spread evenly over as few nodes as will do. If that is too little for one node, a neighbour's entries are
 * taken in as well; if it is a little too much, those of a neighbour with the same parent, which fills nodes
 * to two thirds and more. The new root makes it visible. All old nodes of all levels are retired.
 */
#include "mm/space/vma_tree.h"

#include <errno.h>

#include "mm/space/vma_node.h"
#include "port/panic.h"
#include "sync/rcu.h"

/* A node on each level, from a leaf to the root, and an entry of it: above the leaf the next node. */
struct path {
	struct {
		struct vma_node *node;
		unsigned at;
	} on[VMA_TREE_LEVELS];
};

/* A run of entries: [from, to) of a node. */
struct run {
	const struct vma_node *node;
	unsigned from, to;
};

/* The new entries of a level: VMAs, or fresh nodes of the level below, linked. */
struct middle {
	struct vma *const *with;
	struct vma_node *nodes;
	size_t count;
};

/* What the new nodes of a level are made from, in order: before[], the middle, after[]. */
struct level_input {
	struct run before[2], after[2];
	struct middle middle;
	size_t total;
};

/* Reads the entries of a level's input one after the other. */
struct cursor {
	const struct level_input *input;
	unsigned run; /* 0 and 1: before; 2: the middle; 3 and 4: after */
	size_t done;  /* entries of that run */
	struct vma_node *next_node;
};

struct entry {
	uintptr_t key;
	struct vma *vma;        /* on level 0 */
	struct vma_node *child; /* above */
	struct run old;         /* where it stood, at `from`; node NULL: it is new */
};

static void path_find(struct path *path, struct vma_node *root, uintptr_t address)
{
	struct vma_node *node = root;

	for (;;) {
		path->on[node->level].node = node;
		path->on[node->level].at = vma_node_search(node, address);
		if (!node->level)
			return;
		node = node->children[path->on[node->level].at];
	}
}

/* Moves the path to the neighbour on `level`, below `top`. Returns whether there is one. */
static bool path_step(struct path *path, unsigned level, unsigned top, bool right)
{
	unsigned up = level + 1;

	while (up <= top && (right ? path->on[up].at + 1 == path->on[up].node->count : path->on[up].at == 0))
		up++;
	if (up > top)
		return false;
	if (right)
		path->on[up].at++;
	else
		path->on[up].at--;
	while (up-- > level) {
		path->on[up].node = path->on[up + 1].node->children[path->on[up + 1].at];
		path->on[up].at = right ? 0 : path->on[up].node->count - 1;
	}
	return true;
}

/* Notes that the change replaces `node`. */
static void replace_node(struct vma_change *change, struct vma_node *node)
{
	if (node->fresh) {
		node->dropped = true;
	} else {
		node->link = change->replaced;
		change->replaced = node;
	}
}

/* Notes that it replaces every node of `level` from that of `first` to that of `last`. */
static void replace_nodes(struct vma_change *change, const struct path *first, const struct path *last,
			  unsigned level, unsigned top)
{
	struct path path = *first;

	replace_node(change, path.on[level].node);
	while (path.on[level].node != last->on[level].node) {
		invariant(path_step(&path, level, top, true));
		replace_node(change, path.on[level].node);
	}
}

static struct vma_node *fresh_node(struct vma_change *change, unsigned level)
{
	struct vma_node *node = vma_node_get(change->tree->nodes);

	if (!node)
		return NULL;
	node->level = (uint8_t)level;
	node->fresh = true;
	node->dropped = false;
	node->link = NULL;
	if (change->fresh_last)
		change->fresh_last->link = node;
	else
		change->fresh = node;
	change->fresh_last = node;
	return node;
}

static struct entry next_entry(struct cursor *cursor, unsigned level)
{
	const struct level_input *input = cursor->input;
	const struct run *run;
	struct entry entry = {0};

	for (;; cursor->run++, cursor->done = 0) {
		if (cursor->run == 2) {
			if (cursor->done < input->middle.count)
				break;
			continue;
		}
		run = cursor->run < 2 ? &input->before[cursor->run] : &input->after[cursor->run - 3];
		if (cursor->done == run->to - run->from)
			continue;
		entry.old = (struct run){.node = run->node, .from = run->from + (unsigned)cursor->done};
		entry.key = run->node->keys[entry.old.from];
		if (level)
			entry.child = run->node->children[entry.old.from];
		else
			entry.vma = run->node->vmas[entry.old.from];
		cursor->done++;
		return entry;
	}
	if (level) {
		entry.child = cursor->next_node;
		entry.key = entry.child->keys[0];
		cursor->next_node = entry.child->link;
	} else {
		entry.vma = input->middle.with[cursor->done];
		entry.key = entry.vma->start;
	}
	cursor->done++;
	return entry;
}

/* The gap that `entry` accounts for when it comes after `before` in its node, or first (NULL). */
static uint32_t entry_gap(const struct entry *entry, const struct entry *before, unsigned level)
{
	const struct vma_node *old = entry->old.node;
	unsigned at = entry->old.from;
	uint32_t inside, between;

	/* It stands behind the same entry as it did. */
	if (old && (before ? old == before->old.node && at == before->old.from + 1 : at == 0))
		return old->gaps[at];
	inside = level ? vma_node_gap(entry->child) : 0;
	if (!before)
		return inside;
	between = vma_gap_pages(entry->key - (level ? vma_node_end(before->child) : before->vma->end));
	return inside > between ? inside : between;
}

static void fill_node(struct vma_node *node, struct cursor *cursor, unsigned count)
{
	struct entry entry, before;

	node->count = (uint8_t)count;
	for (unsigned i = 0; i < count; i++) {
		entry = next_entry(cursor, node->level);
		node->keys[i] = entry.key;
		if (node->level)
			node->children[i] = entry.child;
		else
			node->vmas[i] = entry.vma;
		node->gaps[i] = entry_gap(&entry, i ? &before : NULL, node->level);
		before = entry;
	}
	for (unsigned i = count; i < VMA_NODE_ENTRIES; i++)
		node->keys[i] = VMA_KEY_UNUSED;
}

/* Makes the nodes of `level` from `input`, and them the middle of the level above. Returns 0 or -ENOMEM. */
static int build_level(struct vma_change *change, unsigned level, const struct level_input *input,
		       struct middle *made)
{
	size_t nodes = (input->total + VMA_NODE_ENTRIES - 1) / VMA_NODE_ENTRIES;
	struct cursor cursor = {.input = input, .next_node = input->middle.nodes};
	struct vma_node *first = NULL;

	for (size_t i = 0; i < nodes; i++) {
		struct vma_node *node = fresh_node(change, level);

		if (!node)
			return -ENOMEM;
		fill_node(node, &cursor, (unsigned)(input->total / nodes + (i < input->total % nodes)));
		if (!first)
			first = node;
	}
	*made = (struct middle){.nodes = first, .count = nodes};
	return 0;
}

/* Takes the neighbour on one side into the level's input. Returns whether there is one. */
static bool take_neighbour(struct vma_change *change, struct level_input *input, struct path *path,
			   unsigned level, unsigned top, bool right)
{
	const struct vma_node *node;

	if (!path_step(path, level, top, right))
		return false;
	node = path->on[level].node;
	replace_node(change, path->on[level].node);
	input->total += node->count;
	*(right ? &input->after[1] : &input->before[0]) = (struct run){.node = node, .to = node->count};
	return true;
}

static bool has_sibling(const struct path *path, unsigned level, unsigned top, bool right)
{
	if (level == top)
		return false;
	return right ? path->on[level + 1].at + 1 < path->on[level + 1].node->count
		     : path->on[level + 1].at > 0;
}

/* Takes in a neighbour where that makes better nodes. Returns whether one was needed and there is none. */
static bool balance_level(struct vma_change *change, struct level_input *input, struct path *first,
			  struct path *last, unsigned level, unsigned top)
{
	bool left = has_sibling(first, level, top, false), right = has_sibling(last, level, top, true);

	if (input->total && input->total < VMA_NODE_MIN) {
		/* Better a sibling than a cousin, whose parent is replaced too. */
		if (right && !left)
			return !take_neighbour(change, input, last, level, top, true);
		return !take_neighbour(change, input, first, level, top, false) &&
		       !take_neighbour(change, input, last, level, top, true);
	}
	if (input->total > VMA_NODE_ENTRIES && input->total <= 2 * VMA_NODE_ENTRIES && (left || right))
		take_neighbour(change, input, left ? first : last, level, top, !left);
	return false;
}

/* The entry of a level's input that has only one. */
static struct vma_node *only_child(const struct level_input *input, unsigned level)
{
	struct cursor cursor = {.input = input, .next_node = input->middle.nodes};

	return next_entry(&cursor, level).child;
}

/*
 * Builds levels from `level` on over `middle`, which holds all that there is, until one node is left: the new
 * root.
 */
static int grow_root(struct vma_change *change, unsigned level, struct middle middle)
{
	while (middle.count > (level > 0)) {
		struct level_input input = {.middle = middle, .total = middle.count};
		int error;

		invariant(level < VMA_TREE_LEVELS);
		error = build_level(change, level, &input, &middle);
		if (error)
			return error;
		level++;
	}
	change->new_root = middle.nodes;
	return 0;
}

/* Replaces on all levels of the tree below `root`. The new root is in change->new_root. */
static int replace_levels(struct vma_change *change, struct vma_node *root, struct path *first,
			  struct path *last, struct middle middle)
{
	unsigned top = root->level, level;

	for (level = 0; level <= top; level++) {
		struct vma_node *from = first->on[level].node, *to = last->on[level].node;
		/* The leaves' paths say where the range lies between entries, those above which child it is
		 * in. */
		unsigned end = last->on[level].at + (level > 0);
		struct level_input input = {.before[1] = {from, 0, first->on[level].at},
					    .after[0] = {to, end, to->count},
					    .middle = middle};
		int error;

		replace_nodes(change, first, last, level, top);
		input.total = first->on[level].at + middle.count + (to->count - end);
		if (balance_level(change, &input, first, last, level, top) && level && input.total == 1) {
			/* The level below has one node and no other: it is the root, and what is above goes.
			 */
			change->new_root = only_child(&input, level);
			while (++level <= top)
				replace_nodes(change, first, last, level, top);
			return 0;
		}
		error = build_level(change, level, &input, &middle);
		if (error)
			return error;
	}
	return grow_root(change, level, middle);
}

/* The range lies between at[0] of the one leaf and at[0] of the other. */
static void find_range(struct vma_node *root, uintptr_t start, uintptr_t end, struct path *first,
		       struct path *last)
{
	const struct vma *vma;

	path_find(first, root, start);
	vma = first->on[0].node->vmas[first->on[0].at];
	if (vma->start < start) {
		invariant(vma->end <= start);
		first->on[0].at++;
	}
	path_find(last, root, end - 1);
	vma = last->on[0].node->vmas[last->on[0].at];
	if (vma->start < end) {
		invariant(vma->end <= end);
		last->on[0].at++;
	}
}

static void check_new(uintptr_t start, uintptr_t end, struct vma *const *with, size_t count)
{
	uintptr_t last_end = start;

	invariant(start < end && (start | end) % PORT_PAGE_SIZE == 0);
	for (size_t i = 0; i < count; i++) {
		invariant(with[i]->start >= last_end && with[i]->end > with[i]->start);
		invariant((with[i]->start | with[i]->end) % PORT_PAGE_SIZE == 0);
		last_end = with[i]->end;
	}
	invariant(last_end <= end);
}

static void put_nodes(struct vma_change *change, struct vma_node *node)
{
	while (node) {
		struct vma_node *next = node->link;

		vma_node_put(change->tree->nodes, node);
		node = next;
	}
}

/* Gives back what `change` has made since it was as `before`. */
static void undo(struct vma_change *change, const struct vma_change *before)
{
	if (before->fresh) {
		put_nodes(change, before->fresh_last->link);
		before->fresh_last->link = NULL;
	} else {
		put_nodes(change, change->fresh);
	}
	*change = *before;
	for (struct vma_node *node = change->fresh; node; node = node->link)
		node->dropped = false;
}

/* Gives back the nodes that an earlier part of the change made and a later one replaced. */
static void put_dropped(struct vma_change *change)
{
	struct vma_node *node = change->fresh;

	change->fresh = change->fresh_last = NULL;
	while (node) {
		struct vma_node *next = node->link;

		node->link = NULL;
		if (node->dropped)
			vma_node_put(change->tree->nodes, node);
		else if (change->fresh_last)
			change->fresh_last = change->fresh_last->link = node;
		else
			change->fresh = change->fresh_last = node;
		node = next;
	}
}

int vma_tree_prepare_more(struct vma_change *change, uintptr_t start, uintptr_t end, struct vma *const *with,
			  size_t count)
{
	const struct vma_change before = *change;
	struct vma_node *root = change->new_root;
	struct middle middle = {.with = with, .count = count};
	struct path first, last;
	int error;

	check_new(start, end, with, count);
	if (root) {
		find_range(root, start, end, &first, &last);
		if (!count && first.on[0].node == last.on[0].node && first.on[0].at == last.on[0].at)
			return 0;
		error = replace_levels(change, root, &first, &last, middle);
	} else {
		error = grow_root(change, 0, middle);
	}
	if (error)
		undo(change, &before);
	else if (before.fresh)
		put_dropped(change);
	return error;
}

int vma_tree_prepare(struct vma_tree *tree, struct vma_change *change, uintptr_t start, uintptr_t end,
		     struct vma *const *with, size_t count)
{
	*change = (struct vma_change){.tree = tree, .new_root = rcu_dereference_locked(&tree->root)};
	return vma_tree_prepare_more(change, start, end, with, count);
}

void vma_tree_commit(struct vma_change *change)
{
	struct vma_tree *tree = change->tree;

	for (struct vma_node *node = change->fresh; node; node = node->link)
		node->fresh = false;
	if (change->new_root != rcu_dereference_locked(&tree->root))
		rcu_assign_pointer(&tree->root, change->new_root);
	if (change->replaced)
		vma_node_retire(tree->nodes, change->replaced);
}

void vma_tree_cancel(struct vma_change *change)
{
	put_nodes(change, change->fresh);
}
