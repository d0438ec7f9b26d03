/* SPDX-License-Identifier: MIT */
/*
 * Which anon a VMA gets with its first private page; and what the reverse map asks of a VMA.
 */
#include <errno.h>

#include "mm/space/internal.h"
#include "mm/space/vma_link.h"

int space_may_unmap(struct rmap_space *rmap, uintptr_t address)
{
	struct sf_space *space = container_of(rmap, struct sf_space, rmap);
	const struct vma *vma = vma_tree_find(&space->tree, address);

	/* The entry's lock comes before the look, as for a fault: docs/LOCKING.md, "A fault and an unmap". */
	if (!vma || atomic_load_explicit(&vma->detached, memory_order_seq_cst))
		return -EAGAIN;
	return vma->flags & VM_LOCKED ? -EPERM : 0;
}

/* Whether `low` and `high`, which touch, could become one VMA after their protections were made equal. */
static bool could_merge(const struct vma *low, const struct vma *high)
{
	return low->end == high->start && low->object == high->object &&
	       !((low->flags ^ high->flags) & ~(uint32_t)VM_PROTECTION) &&
	       low->page_offset + vma_pages(low) == high->page_offset;
}

/* The anon of the VMA itself, if others may join it. */
static struct anon_vma *joinable(const struct vma *vma)
{
	struct anon_vma *anon = vma_anon(vma);

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
	if (vma_anon(vma))
		return;
	anon = find_joinable(space, vma);
	if (anon) {
		anon_vma_get(anon);
	} else {
		anon = vma->spare_anon;
		anon_vma_begin(anon, &space->rmap);
	}
	/*
	 * Several faults can be here for one VMA. Release: who finds the pointer, finds the anon made. The
	 * spare one's only VMA was counted when it was made, so a loser who offers it has nothing to put.
	 */
	if (atomic_compare_exchange_strong_explicit(&vma->anon, &none, anon, memory_order_acq_rel,
						    memory_order_relaxed))
		vma_link_anon(vma, anon);
	else if (anon != vma->spare_anon)
		anon_vma_put(anon);
}
