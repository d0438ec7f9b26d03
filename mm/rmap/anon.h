/* SPDX-License-Identifier: MIT */
/*
 * Where anonymous memory is mapped: nodes of spaces, in a tree that forks make.
 *
 * A VMA gets a node with its first private page. Pieces of a VMA share its node, and a VMA that gets its
 * first page takes over that of a neighbour with which it could merge; two VMAs with different nodes never
 * merge. So a node is of one space, and is the identity of its VMAs as well. A fork gives the child's VMA a
 * node of its own, a child of the parent's; those are marked as inherited, and nothing joins them but pieces
 * of the same VMA.
 *
 *        A      page->anon is the home of the VMA that made the page, page->index its index there.
 *       / \     A page of A may be mapped by all four, one of B by B and D. So a walk goes from
 *      B   C    page->anon down, and each node gives the places at which its space could map the index:
 *      |        the address that was the index when it was mapped; and for displaced VMAs (moved since, or
 *      D        private copies of an object's pages) those of the tree of their links.
 *
 * Nothing here follows a VMA that is not displaced: to map, unmap, split, merge or protect ordinary memory
 * touches no tree, and to look at the address costs a walk of a table that finds another entry, or none.
 *
 * A node whose last VMA is gone is taken out of the tree when it has no children; until then it is passed
 * through, and no table is looked at. A space that has forked from a chain of CHAIN_MAX such nodes with one
 * child each gets a node that no page names: its pages name its parent's node, its *home*. So it goes with
 * its space, and chains of forks and exits do not grow.
 *
 * page->anon keeps no reference. While the page is mapped, a VMA that maps it has a node below or at
 * page->anon, which keeps all above it. A page that nothing maps may point to a node that is gone; so who
 * loads page->anon does it in an RCU read section in which it has seen the page mapped, and takes a reference
 * that is not zero. Nodes are freed a grace period after they have left. When a page of the swap cache is
 * mapped for the first time again, anon_map_swapped() says where it is.
 *
 * The lock is the root's, `anon_lock`. For writing: the lists of children, the trees of displaced links, the
 * space of a node, whenever one of them changes. Who has it for reading may use the tables of the nodes'
 * spaces: a space has left its nodes before it ends.
 *
 *             alloc..use  get, put  link, unlink  inherit  walk
 *   walk       no one      yes       lock          lock     yes
 *   get, put   knows it    yes       yes           yes
 */
#ifndef MM_RMAP_ANON_H
#define MM_RMAP_ANON_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/message.h"
#include "mm/memtype/interval.h"
#include "mm/page/frames.h"
#include "mm/rmap/space.h"
#include "port/rcu.h"
#include "sync/refcount.h"
#include "sync/rwsem.h"

struct anon_vma {
	/* Read only once the node is in use. */
	CACHE_LINE_ALIGNED struct anon_vma *root; /* a reference, unless it is the node itself */
	struct anon_vma *parent;                  /* a reference until the node is taken out; NULL: a root */
	struct anon_vma *home;                    /* what its pages name: itself or its parent */
	bool inherited;                           /* made by a fork */

	/* Its VMAs have one, each child, each node of which it is the root, and each walk. */
	CACHE_LINE_ALIGNED struct refcount references;
	_Atomic uint32_t vmas; /* that have it. Atomic */
	uint32_t checked;      /* the check's own, which runs while nothing else does */
	struct frames *frames; /* that count the node while it waits for a grace period; NULL: never in use */
	struct port_rcu_head rcu;

	/* By the root's lock. NULL: no VMA has the node. */
	struct rmap_space *_Atomic space;
	struct list children, sibling;
	struct interval_tree displaced; /* struct anon_link */
	uint32_t displaced_count;

	struct rwsem lock; /* a root's */
};

/* A displaced VMA in its node. By the root's lock. */
struct anon_link {
	struct interval pages; /* the indices that it maps */
	uintptr_t start;       /* where the first one is */
};

/* Makes a node that nobody knows. Returns it, or NULL. Not from the fault path. */
struct anon_vma *anon_vma_alloc(void);

/* Frees one that was never in use; NULL is allowed. */
void anon_vma_free(struct anon_vma *anon);

/* Makes a new node a root, which one VMA is to have. Its sleepers wait in `nodes`. */
void anon_vma_init(struct anon_vma *anon, const struct lock_nodes *nodes);

/*
 * Says that a root is of `space`, before a VMA shows it to others. Several may, of one space. Part of the
 * fault path.
 */
void anon_vma_begin(struct anon_vma *anon, struct rmap_space *space);

/* For one more VMA. NULL is allowed. Part of the fault path. */
void anon_vma_get(struct anon_vma *anon);

/*
 * For one less; NULL is allowed. The last one takes the node out of the tree if it has no children. Its links
 * are removed, and no entry of it is left. Sleeps.
 */
void anon_vma_put(struct anon_vma *anon);

/*
 * Makes `anon`, after anon_vma_init(), the node of `space`, a fork, that inherits from a VMA with `from`. The
 * space's entries are there already, so that walks do not meet them half made. Sleeps.
 */
void anon_vma_inherit(struct anon_vma *anon, struct anon_vma *from, struct rmap_space *space);

/* Adds a link that is filled in, or removes one. Sleep; part of the fault path as far as that may. */
void anon_link_add(struct anon_vma *anon, struct anon_link *link);
void anon_link_remove(struct anon_vma *anon, struct anon_link *link);

/* What new pages of a VMA that has `anon` name. Part of the fault path. */
static inline struct anon_vma *anon_vma_home(const struct anon_vma *anon)
{
	return anon->home;
}

/*
 * A page is found to be exclusive by a VMA that has `anon`, with the lock of its entry held: from now on it
 * is looked for there alone. Part of the fault path.
 */
static inline void anon_page_is_own(struct page *page, const struct anon_vma *anon)
{
	if (atomic_load_explicit(&page->anon, memory_order_relaxed) != anon->home)
		atomic_store_explicit(&page->anon, anon->home, memory_order_relaxed);
}

/*
 * A page that came from swap is about to be mapped, at `index`, by a VMA that has `anon`: stands before
 * page_add_mapping(), with PG_locked and the entry's lock. Makes it a page of anonymous memory if it is a
 * fresh one. `alone`: no other entry names its slot, and it is out of the swap cache. Else others may come
 * for it from all spaces that share memory by forks with this one. Part of the fault path.
 */
void anon_map_swapped(struct frames *frames, struct page *page, struct anon_vma *anon, uint64_t index,
		      bool alone);

/*
 * Calls `visit` for each place at which an anonymous page, which the caller has locked and has a reference
 * on, could be mapped, with anon_lock held for reading. Sleeps.
 */
void anon_walk(struct page *page, rmap_visit *visit, void *argument);

/*
 * Checks a node that has VMAs, while nothing runs, and those above it that have none: that the tree is whole,
 * and no node is in it that has neither VMAs nor children. Returns 0, or -EINVAL with what is broken.
 */
int anon_vma_check(const struct anon_vma *anon, struct message *why);

/* Whether a walk from a page that names `top` comes to a VMA that has `anon`; while nothing runs. */
bool anon_vma_is_below(const struct anon_vma *anon, const struct anon_vma *top);

#endif
