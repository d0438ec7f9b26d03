/* SPDX-License-Identifier: MIT */
#include "mm/space/edit.h"

#include <errno.h>

#include "mm/space/vma_link.h"
#include "port/page.h"
#include "port/panic.h"

struct vma_shape vma_shape_part(const struct vma_shape *shape, uintptr_t start, uintptr_t end)
{
	struct vma_shape part = *shape;

	part.start = start;
	part.end = end;
	part.page_offset += (start - shape->start) >> PORT_PAGE_SHIFT;
	return part;
}

void edit_begin(struct space_edit *edit, struct sf_space *space)
{
	edit->space = space;
	edit->ranges = 0;
	edit->count = 0;
	edit->old = NULL;
	edit->detached = false;
}

void edit_replace(struct space_edit *edit, uintptr_t start, uintptr_t end)
{
	invariant(edit->ranges < ARRAY_SIZE(edit->range));
	edit->range[edit->ranges++] =
	    (struct edit_range){.start = start, .end = end, .first = edit->count, .count = 0};
}

void edit_add(struct space_edit *edit, const struct vma_shape *shape)
{
	invariant(edit->ranges && edit->count < EDIT_VMAS_MAX);
	edit->shape[edit->count++] = *shape;
	edit->range[edit->ranges - 1].count++;
}

void edit_add_part(struct space_edit *edit, const struct vma_shape *shape, uintptr_t start, uintptr_t end)
{
	if (start < end) {
		struct vma_shape part = vma_shape_part(shape, start, end);

		edit_add(edit, &part);
	}
}

static void free_vmas(struct space_edit *edit, unsigned made)
{
	while (made)
		vma_free(edit->vma[--made]);
}

/* Links the VMAs that the change takes away. */
static void collect_old(struct space_edit *edit)
{
	const struct vma_tree *tree = &edit->space->tree;

	for (unsigned i = 0; i < edit->ranges; i++) {
		uintptr_t end = edit->range[i].end;

		for (struct vma *vma = vma_tree_next(tree, edit->range[i].start); vma && vma->start < end;
		     vma = vma_tree_next(tree, vma->end)) {
			vma->next = edit->old;
			edit->old = vma;
		}
	}
}

int edit_prepare(struct space_edit *edit)
{
	struct sf_space *space = edit->space;
	int error = 0;
	unsigned made = 0;

	while (made < edit->count) {
		edit->vma[made] =
		    vma_create(space->parts.vma_cache, &edit->shape[made], space->parts.lookup->users_idle);
		if (!edit->vma[made])
			goto no_memory;
		made++;
	}
	for (unsigned i = 0; i < edit->ranges; i++) {
		const struct edit_range *range = &edit->range[i];
		struct vma *const *with = &edit->vma[range->first];

		error = i ? vma_tree_prepare_more(&edit->change, range->start, range->end, with, range->count)
			  : vma_tree_prepare(&space->tree, &edit->change, range->start, range->end, with,
					     range->count);
		if (error && i)
			vma_tree_cancel(&edit->change);
		if (error)
			goto no_memory;
	}
	collect_old(edit);
	return 0;
no_memory:
	free_vmas(edit, made);
	return -ENOMEM;
}

/* Counts a VMA in, or out by a negative `sign`. */
static void count(struct sf_space *space, const struct vma *vma, int sign)
{
	uint64_t pages = vma_pages(vma);

	if (sign < 0)
		pages = -pages;
	space->total_pages += pages;
	if (vma->flags & VM_LOCKED)
		space->locked_pages += pages;
	space->map_count += (uint64_t)(int64_t)sign;
}

void edit_link_locked(struct space_edit *edit, struct sf_object *object)
{
	for (unsigned i = 0; i < edit->count; i++)
		if (object_cached(edit->vma[i]->object) == object)
			vma_link_object_locked(edit->vma[i], edit->space, object);
}

void edit_commit(struct space_edit *edit)
{
	struct sf_space *space = edit->space;

	for (unsigned i = 0; i < edit->count; i++)
		vma_link(edit->vma[i], space);
	vma_tree_commit(&edit->change);
	for (const struct vma *vma = edit->old; vma; vma = vma->next)
		count(space, vma, -1);
	for (unsigned i = 0; i < edit->count; i++)
		count(space, edit->vma[i], 1);
	if (space->peak_pages < space->total_pages)
		space->peak_pages = space->total_pages;
}

void edit_detach(struct space_edit *edit)
{
	for (struct vma *vma = edit->old; vma; vma = vma->next)
		edit->space->parts.lookup->detach(vma);
	edit->detached = true;
}

void edit_finish(struct space_edit *edit)
{
	struct vma *next;

	invariant(edit->detached);
	for (struct vma *vma = edit->old; vma; vma = next) {
		next = vma->next;
		vma_unlink(vma);
		vma_retire(vma);
	}
}

void edit_cancel(struct space_edit *edit)
{
	vma_tree_cancel(&edit->change);
	if (edit->detached)
		for (struct vma *vma = edit->old; vma; vma = vma->next)
			edit->space->parts.lookup->reattach(vma);
	free_vmas(edit, edit->count);
}

int edit_apply(struct space_edit *edit)
{
	int error = edit_prepare(edit);

	if (error)
		return error;
	edit_commit(edit);
	edit_detach(edit);
	edit_finish(edit);
	return 0;
}
