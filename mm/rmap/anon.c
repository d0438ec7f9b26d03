/* SPDX-License-Identifier: MIT */
/*
 * The life of nodes.
 */
#include "mm/rmap/anon.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/rmap/internal.h"
#include "port/memory.h"
#include "port/page.h"

/* Nodes above a space's that have no VMA and one child, before its forks get no home of their own. */
#define CHAIN_MAX 4u

struct anon_vma *anon_vma_alloc(void)
{
	return port_memory_alloc(sizeof(struct anon_vma), PORT_NODE_FIRST_TOUCH, "struct anon_vma");
}

void anon_vma_free(struct anon_vma *anon)
{
	port_memory_free(anon, sizeof(*anon));
}

void anon_vma_init(struct anon_vma *anon, const struct lock_nodes *nodes)
{
	anon->root = anon->home = anon;
	anon->parent = NULL;
	anon->inherited = false;
	refcount_init(&anon->references, 1);
	atomic_init(&anon->vmas, 1);
	atomic_init(&anon->space, NULL);
	list_init(&anon->children);
	anon->displaced = (struct interval_tree){NULL};
	anon->displaced_count = 0;
	anon->frames = NULL;
	rwsem_init(&anon->lock, &rwsem_xadd_ops, LOCK_RANK_ANON, nodes);
}

void anon_vma_begin(struct anon_vma *anon, struct rmap_space *space)
{
	atomic_store_explicit(&anon->space, space, memory_order_relaxed);
}

static void count_retired(const struct anon_vma *anon, int64_t sign)
{
	if (anon->frames)
		frames_retired(anon->frames, sign * (int64_t)sizeof(*anon));
}

static void free_node(struct port_rcu_head *head)
{
	struct anon_vma *anon = container_of(head, struct anon_vma, rcu);

	count_retired(anon, -1);
	anon_vma_free(anon);
}

/* The root's node outlives those of the tree, so that who has one of these may lock it. */
void anon_put_reference(struct anon_vma *anon)
{
	struct anon_vma *root = anon->root;

	if (!refcount_dec_and_test(&anon->references))
		return;
	count_retired(anon, 1);
	port_rcu_call(&anon->rcu, free_node);
	if (root != anon)
		anon_put_reference(root);
}

void anon_vma_get(struct anon_vma *anon)
{
	if (anon)
		atomic_fetch_add_explicit(&anon->vmas, 1, memory_order_relaxed);
}

static struct rmap_space *space_of(const struct anon_vma *anon)
{
	return atomic_load_explicit(&anon->space, memory_order_relaxed);
}

/* Takes a node out that has neither VMAs nor children, and those above of which the same is true then. */
static void prune(struct anon_vma *anon)
{
	while (anon->parent && !space_of(anon) && list_empty(&anon->children)) {
		struct anon_vma *parent = anon->parent;

		list_remove(&anon->sibling);
		anon->parent = NULL;
		anon_put_reference(parent);
		anon = parent;
	}
}

void anon_vma_put(struct anon_vma *anon)
{
	uint32_t old;

	if (!anon)
		return;
	old = atomic_fetch_sub_explicit(&anon->vmas, 1, memory_order_acq_rel);
	invariant(old);
	if (old > 1)
		return;
	/* The walks that are at work in the space are over, and none begins. */
	down_write(&anon->root->lock);
	invariant(!anon->displaced_count);
	if (space_of(anon))
		anon->frames = space_of(anon)->table->frames;
	atomic_store_explicit(&anon->space, NULL, memory_order_relaxed);
	prune(anon);
	up_write(&anon->root->lock);
	anon_put_reference(anon);
}

static bool has_one_child(const struct anon_vma *anon)
{
	return !list_empty(&anon->children) && anon->children.next->next == &anon->children;
}

/* Whether the nodes at and above `anon` that only lead to one other are as many as there may be. */
static bool chain_is_long(const struct anon_vma *anon)
{
	unsigned length = 0;

	if (space_of(anon))
		anon = anon->parent;
	for (; anon && !space_of(anon) && has_one_child(anon) && length < CHAIN_MAX; anon = anon->parent)
		length++;
	return length == CHAIN_MAX;
}

void anon_vma_inherit(struct anon_vma *anon, struct anon_vma *from, struct rmap_space *space)
{
	struct anon_vma *parent = from->home, *root = from->root;

	down_write(&root->lock);
	refcount_inc(&root->references);
	refcount_inc(&parent->references);
	anon->root = root;
	anon->parent = parent;
	anon->home = chain_is_long(parent) ? parent : anon;
	anon->inherited = true;
	anon_vma_begin(anon, space);
	list_add(&parent->children, &anon->sibling);
	up_write(&root->lock);
}

void anon_link_add(struct anon_vma *anon, struct anon_link *link)
{
	down_write(&anon->root->lock);
	interval_insert(&anon->displaced, &link->pages);
	anon->displaced_count++;
	up_write(&anon->root->lock);
}

void anon_link_remove(struct anon_vma *anon, struct anon_link *link)
{
	down_write(&anon->root->lock);
	interval_remove(&anon->displaced, &link->pages);
	anon->displaced_count--;
	up_write(&anon->root->lock);
}

void anon_map_swapped(struct frames *frames, struct page *page, struct anon_vma *anon, uint64_t index,
		      bool alone)
{
	struct anon_vma *from = alone ? anon->home : anon->root;

	if (!page_has_flag(page, PG_anonymous))
		page_set_anonymous(frames, page, from, index);
	else if (alone || !page_mapcount(page))
		atomic_store_explicit(&page->anon, from, memory_order_relaxed);
}

bool anon_vma_is_below(const struct anon_vma *anon, const struct anon_vma *top)
{
	while (anon && anon != top)
		anon = anon->parent;
	return anon != NULL;
}

static int check_node(const struct anon_vma *anon, struct message *why)
{
	uint32_t children = 0, displaced = 0;

	for (const struct list *link = anon->children.next; link != &anon->children; link = link->next) {
		const struct anon_vma *child = container_of(link, struct anon_vma, sibling);

		children++;
		if (child->parent != anon || child->root != anon->root ||
		    (child->home != child && child->home != anon))
			return message_set(why, -EINVAL,
					   "an anon_vma has a child of another parent, root or home");
	}
	for (const struct interval *link = interval_first(&anon->displaced, 0, UINT64_MAX); link;
	     link = interval_next(&anon->displaced, link, 0, UINT64_MAX))
		displaced++;
	if (displaced != anon->displaced_count || displaced > atomic_load(&anon->vmas) ||
	    !interval_tree_valid(&anon->displaced))
		return message_set(why, -EINVAL,
				   "an anon_vma of %" PRIu32 " VMAs counts %" PRIu32
				   " displaced ones and has %" PRIu32,
				   atomic_load(&anon->vmas), anon->displaced_count, displaced);
	if (!children && !space_of(anon))
		return message_set(why, -EINVAL, "an anon_vma has neither VMAs nor children");
	if (children && anon->home != anon)
		return message_set(why, -EINVAL, "an anon_vma that no page names has children");
	if (!space_of(anon) != !atomic_load(&anon->vmas))
		return message_set(why, -EINVAL, "an anon_vma counts %" PRIu32 " VMAs and has %s space",
				   atomic_load(&anon->vmas), space_of(anon) ? "a" : "no");
	return 0;
}

int anon_vma_check(const struct anon_vma *anon, struct message *why)
{
	int error;

	/* Those that have VMAs are looked at by these. */
	do {
		error = check_node(anon, why);
		anon = anon->parent;
	} while (!error && anon && !space_of(anon));
	return error;
}
