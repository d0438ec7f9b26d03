/* SPDX-License-Identifier: MIT */
/*
 * mremap: what is checked, and which of its kinds a call is. The kinds that move are in move.c.
 */
#include <errno.h>

#include "mm/space/remap.h"

/* What mremap takes from the number of VMAs, at worst; the check at its start assumes two more. */
#define REMAP_VMAS 3u

static bool sets_address(const struct remap *remap)
{
	return remap->flags & (SF_REMAP_FIXED | SF_REMAP_DONTUNMAP);
}

static int check_parameters(const struct remap *remap)
{
	if (remap->flags & ~(SF_REMAP_MAYMOVE | SF_REMAP_FIXED | SF_REMAP_DONTUNMAP) ||
	    !page_aligned(remap->address) || !remap->new_length || remap->new_length > SPACE_END)
		return -EINVAL;
	if (!sets_address(remap))
		return 0;
	if (remap->new_address > SPACE_END - remap->new_length || !page_aligned(remap->new_address) ||
	    !(remap->flags & SF_REMAP_MAYMOVE))
		return -EINVAL;
	if ((remap->flags & SF_REMAP_DONTUNMAP) && remap->old_length != remap->new_length)
		return -EINVAL;
	/* The target may not overlap the source. */
	if (remap->address + remap->old_length > remap->new_address &&
	    remap->new_address + remap->new_length > remap->address)
		return -EINVAL;
	return 0;
}

/* Checks what the call wants of the one VMA that it starts in. */
static int check_vma(const struct remap *remap, const struct vma *vma)
{
	const struct sf_space *space = remap->space;
	uint64_t old_length = remap->old_length, new_length = remap->new_length, more;

	if (!vma)
		return -EFAULT;
	if (new_length <= old_length && !sets_address(remap))
		return 0;
	/* Nothing is left to share of private memory that is not moved. */
	if (!old_length && !(vma->flags & VM_SHARED))
		return -EINVAL;
	if ((remap->flags & SF_REMAP_DONTUNMAP) && (vma->flags & VM_PFN))
		return -EINVAL;
	/* What shrinks may reach beyond the VMA with the part that goes. */
	if (new_length < old_length)
		old_length = new_length;
	if (old_length > vma->end - remap->address)
		return -EFAULT;
	if (new_length == old_length)
		return 0;
	if (vma->flags & VM_PFN)
		return -EFAULT;
	more = (new_length - old_length) >> PORT_PAGE_SHIFT;
	if ((vma->flags & VM_LOCKED) && !may_lock(space, more))
		return -EAGAIN;
	return may_expand(space, more) ? 0 : -ENOMEM;
}

/* Unmaps what is in the way, lets go of the source's end, and moves. */
static int remap_to(struct remap *remap)
{
	struct sf_space *space = remap->space;
	struct vma *vma;
	int error;

	if (remap->flags & SF_REMAP_FIXED) {
		error = space_unmap_locked(space, remap->new_address, remap->new_address + remap->new_length);
		if (error)
			return error;
	}
	if (remap->new_length < remap->old_length) {
		error = space_unmap_locked(space, remap->address + remap->new_length,
					   remap->address + remap->old_length);
		if (error)
			return error;
		remap->old_length = remap->new_length;
	}
	if ((remap->flags & SF_REMAP_DONTUNMAP) && !may_expand(space, remap->old_length >> PORT_PAGE_SHIFT))
		return -ENOMEM;
	/* Of a length of 0 even the target can have been the source. */
	vma = vma_tree_find(&space->tree, remap->address);
	if (!vma)
		return -EFAULT;
	error = space_place_locked(space, remap->new_address, remap->new_length,
				   remap->flags & SF_REMAP_FIXED, !vma->object, &remap->new_address);
	return error ? error : remap_move_vma(remap, vma);
}

/* Whether the VMA can take more at its end. */
static bool can_expand(const struct remap *remap, const struct vma *vma)
{
	const struct vma *next;
	uintptr_t end;

	if (vma->end - remap->address != remap->old_length)
		return false;
	end = remap->address + remap->new_length;
	if (end < vma->end || end > SPACE_END || vma->start < remap->space->parts.map_min)
		return false;
	next = vma_tree_next(&remap->space->tree, vma->end);
	return !next || next->start >= end;
}

static int expand(struct remap *remap, struct vma *vma)
{
	struct sf_space *space = remap->space;
	const struct vma_shape old = vma_shape(vma);
	struct vma *neighbour = vma_tree_next(&space->tree, vma->end);
	struct vma_shape next, whole = old;
	struct space_edit edit;

	whole.end = remap->address + remap->new_length;
	if (neighbour) {
		next = vma_shape(neighbour);
		if (vma_grows_into(&whole, &next)) {
			whole.end = next.end;
			if (!whole.anon)
				whole.anon = next.anon;
		}
	}
	edit_begin(&edit, space);
	edit_replace(&edit, old.start, whole.end);
	edit_add(&edit, &whole);
	return edit_apply(&edit);
}

/* Not told where to: the mapping stays where it is, if it can. */
static int remap_at(struct remap *remap, struct vma *vma)
{
	struct sf_space *space = remap->space;
	int error;

	if (remap->new_length <= remap->old_length) {
		remap->new_address = remap->address;
		if (remap->new_length == remap->old_length)
			return 0;
		return space_unmap_locked(space, remap->address + remap->new_length,
					  remap->address + remap->old_length);
	}
	if (can_expand(remap, vma)) {
		remap->new_address = remap->address;
		return expand(remap, vma);
	}
	if (!(remap->flags & SF_REMAP_MAYMOVE))
		return -ENOMEM;
	error = space_place_locked(space, 0, remap->new_length, false, !vma->object, &remap->new_address);
	return error ? error : remap_move_vma(remap, vma);
}

/* A plain move takes all VMAs of the range along, with the gaps between them. What has moved stays moved. */
static int move_all(struct remap *remap)
{
	struct sf_space *space = remap->space;
	uintptr_t start = remap->address, end = start + remap->old_length, target = remap->new_address;
	struct vma *vma = vma_tree_find(&space->tree, start);
	uintptr_t at = start;

	if (!vma)
		return -EFAULT;
	do {
		uintptr_t from = vma->start > at ? vma->start : at, vma_end = vma->end;
		struct remap one = *remap;
		int error;

		one.address = from;
		one.new_address = target + (from - start);
		one.old_length = one.new_length = (vma_end < end ? vma_end : end) - from;
		error = check_vma(&one, vma);
		if (!error)
			error = remap_to(&one);
		if (error)
			return error;
		at = vma_end;
		vma = vma_tree_next(&space->tree, at);
	} while (vma && vma->start < end && at < end);
	return 0;
}

static int remap_locked(struct remap *remap, struct populate_range *populate)
{
	struct vma *vma;
	uint64_t old_length = remap->old_length;
	bool populates;
	int error;

	if (sets_address(remap) && remap->space->map_count + 2 + REMAP_VMAS >= remap->space->limit_maps)
		return -ENOMEM;
	if ((remap->flags & SF_REMAP_FIXED) && remap->old_length == remap->new_length)
		return move_all(remap);
	vma = vma_tree_find(&remap->space->tree, remap->address);
	error = check_vma(remap, vma);
	if (error)
		return error;
	populates = (vma->flags & VM_LOCKED) && remap->new_length > remap->old_length;
	error = sets_address(remap) ? remap_to(remap) : remap_at(remap, vma);
	if (!error && populates) {
		populate->start = remap->new_address + old_length;
		populate->end = remap->new_address + remap->new_length;
	}
	return error;
}

int space_remap(struct sf_space *space, uintptr_t address, uint64_t old_length, uint64_t new_length,
		int flags, uintptr_t new_address, uintptr_t *mapped, struct populate_range *populate)
{
	struct remap remap = {
	    .space = space,
	    .address = address,
	    .old_length = page_align(old_length),
	    .new_length = page_align(new_length),
	    .flags = flags,
	    .new_address = new_address,
	};
	int error = check_parameters(&remap);

	*populate = (struct populate_range){0, 0};
	if (error)
		return error;
	down_write(&space->lock);
	error = remap_locked(&remap, populate);
	up_write(&space->lock);
	if (!error)
		*mapped = remap.new_address;
	return error;
}
