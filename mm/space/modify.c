/* SPDX-License-Identifier: MIT */
/*
 * Other flags for a part of a VMA: what mprotect, mlock and madvise have in common.
 */
#include <errno.h>

#include "mm/space/internal.h"

/* Cuts a VMA in two. */
static int split_locked(struct sf_space *space, struct vma *vma, uintptr_t at)
{
	struct vma_shape shape = vma_shape(vma);
	struct space_edit edit;

	edit_begin(&edit, space);
	edit_replace(&edit, vma->start, vma->end);
	edit_add_part(&edit, &shape, shape.start, at);
	edit_add_part(&edit, &shape, at, shape.end);
	return edit_apply(&edit);
}

/* What Linux makes of a part that merges with no neighbour: one split at each end, each under the limit. */
static int check_splits(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end)
{
	unsigned splits = (vma->start < start) + (vma->end > end);

	if (!splits || space->map_count + splits <= space->limit_maps)
		return 0;
	if (splits == 2 && space->map_count < space->limit_maps)
		(void)split_locked(space, vma, start);
	return -ENOMEM;
}

int space_modify_locked(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end,
			uint32_t flags, uintptr_t *after)
{
	const struct vma_shape old = vma_shape(vma);
	struct vma_shape part = vma_shape_part(&old, start, end), whole = part, previous, next;
	bool low = start == old.start, high = end == old.end, merged_low = false, merged_high = false;
	struct vma *neighbour;
	struct space_edit edit;
	int error;

	part.flags = whole.flags = flags;
	if (!(flags & VM_PFN) && (low || high)) {
		neighbour = low ? vma_tree_previous(&space->tree, start) : NULL;
		if (neighbour)
			previous = vma_shape(neighbour);
		low = low && neighbour;
		neighbour = high ? vma_tree_next(&space->tree, end) : NULL;
		if (neighbour)
			next = vma_shape(neighbour);
		whole = vma_merge(&part, low ? &previous : NULL, neighbour ? &next : NULL, &merged_low,
				  &merged_high);
	}
	if (!merged_low && !merged_high) {
		error = check_splits(space, vma, start, end);
		if (error)
			return error;
	}
	edit_begin(&edit, space);
	edit_replace(&edit, merged_low ? previous.start : old.start, merged_high ? next.end : old.end);
	edit_add_part(&edit, &old, old.start, start);
	edit_add(&edit, &whole);
	edit_add_part(&edit, &old, end, old.end);
	error = edit_apply(&edit);
	if (!error)
		*after = whole.end;
	return error;
}
