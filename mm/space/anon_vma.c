/* SPDX-License-Identifier: MIT */
/*
 * Who gets which identity at a VMA's first private page.
 */
#include "mm/space/anon_vma.h"

#include "mm/space/space.h"
#include "port/memory.h"

struct anon_vma *anon_vma_alloc(void)
{
	return port_memory_alloc(sizeof(struct anon_vma), PORT_NODE_FIRST_TOUCH, "struct anon_vma");
}

void anon_vma_free(struct anon_vma *anon)
{
	port_memory_free(anon, sizeof(*anon));
}

void anon_vma_get(struct anon_vma *anon)
{
	if (anon)
		refcount_inc(&anon->references);
}

void anon_vma_put(struct anon_vma *anon)
{
	if (anon && refcount_dec_and_test(&anon->references))
		anon_vma_free(anon);
}

/* Whether `low` and `high`, which touch, could become one VMA after their protections were made equal. */
static bool could_merge(const struct vma *low, const struct vma *high)
{
	return low->end == high->start && low->object == high->object &&
	       !((low->flags ^ high->flags) & ~(uint32_t)VM_PROTECTION) &&
	       low->page_offset + vma_pages(low) == high->page_offset;
}

/* The identity of the VMA itself, if others may join it. */
static struct anon_vma *joinable(const struct vma *vma)
{
	struct anon_vma *anon = atomic_load_explicit(&vma->anon, memory_order_acquire);

	return anon && !anon->inherited ? anon : NULL;
}

static struct anon_vma *find_joinable(struct sf_space *space, const struct vma *vma)
{
	struct vma *next = vma_tree_find(&space->tree, vma->end), *previous;
	struct anon_vma *anon = NULL;

	if (next && could_merge(vma, next))
		anon = joinable(next);
	if (anon || !vma->start)
		return anon;
	previous = vma_tree_find(&space->tree, vma->start - 1);
	return previous && could_merge(previous, vma) ? joinable(previous) : NULL;
}

void space_anon_prepare(struct sf_space *space, struct vma *vma)
{
	struct anon_vma *anon, *none = NULL;

	invariant(vma_private(vma));
	if (atomic_load_explicit(&vma->anon, memory_order_acquire))
		return;
	anon = find_joinable(space, vma);
	if (anon)
		refcount_inc(&anon->references);
	else
		anon = vma->spare_anon;
	/*
	 * Several faults can be here for one VMA. Release: who finds the pointer, finds the identity made.
	 * The spare one's only reference was taken when it was made, so a loser who offers it has nothing to
	 * put.
	 */
	if (!atomic_compare_exchange_strong_explicit(&vma->anon, &none, anon, memory_order_acq_rel,
						     memory_order_relaxed) &&
	    anon != vma->spare_anon)
		anon_vma_put(anon);
}
