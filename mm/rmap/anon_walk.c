/* SPDX-License-Identifier: MIT */
/*
 * From an anonymous page to where it can be mapped.
 */
#include "mm/rmap/anon.h"
#include "mm/rmap/internal.h"

struct walk {
	uint64_t index;
	rmap_visit *visit;
	void *argument;
};

/* The node of a mapped page, with a reference; NULL when the page is not mapped. */
static struct anon_vma *get_node(struct page *page)
{
	struct anon_vma *anon = NULL;

	port_rcu_read_lock();
	/*
	 * The mapping first, acquire: what page->anon says from then on is a node that a mapping of this
	 * moment or a later one keeps, so its memory stays as long as this read section.
	 */
	if (atomic_load_explicit(&page->mapcount, memory_order_acquire)) {
		anon = atomic_load_explicit(&page->anon, memory_order_relaxed);
		if (!refcount_inc_not_zero(&anon->references))
			anon = NULL;
	}
	port_rcu_read_unlock();
	return anon;
}

static bool visit_displaced(const struct walk *walk, struct anon_vma *node, struct rmap_space *space)
{
	uint64_t index = walk->index;

	for (struct interval *interval = interval_first(&node->displaced, index, index + 1); interval;
	     interval = interval_next(&node->displaced, interval, index, index + 1)) {
		const struct anon_link *link = container_of(interval, struct anon_link, pages);

		if (!walk->visit(space, link->start + ((index - interval->start) << PORT_PAGE_SHIFT),
				 walk->argument))
			return false;
	}
	return true;
}

/* Returns false when the walk is to end. */
static bool visit_node(const struct walk *walk, struct anon_vma *node)
{
	struct rmap_space *space = atomic_load_explicit(&node->space, memory_order_relaxed);

	if (!space)
		return true;
	/* A node of private copies alone has nothing at the index itself. */
	if (atomic_load_explicit(&node->vmas, memory_order_relaxed) > node->displaced_count &&
	    walk->index < TABLE_ADDRESS_END >> PORT_PAGE_SHIFT &&
	    !walk->visit(space, walk->index << PORT_PAGE_SHIFT, walk->argument))
		return false;
	return visit_displaced(walk, node, space);
}

/* The next node in the subtree of `top`, parents first; NULL at the end. */
static struct anon_vma *next_node(struct anon_vma *top, struct anon_vma *node)
{
	if (!list_empty(&node->children))
		return container_of(node->children.next, struct anon_vma, sibling);
	while (node != top && node->sibling.next == &node->parent->children)
		node = node->parent;
	return node == top ? NULL : container_of(node->sibling.next, struct anon_vma, sibling);
}

void anon_walk(struct page *page, rmap_visit *visit, void *argument)
{
	struct walk walk = {.visit = visit, .argument = argument};
	struct anon_vma *top = get_node(page);

	if (!top)
		return;
	walk.index = page->index;
	down_read(&top->root->lock);
	for (struct anon_vma *node = top; node && visit_node(&walk, node); node = next_node(top, node))
		;
	up_read(&top->root->lock);
	anon_put_reference(top);
}
