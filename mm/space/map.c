/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "mm/object/shmem.h"
#include "mm/space/internal.h"
#include "mm/table/range.h"

/* Both bits of the type; the kernel's third type is both. */
#define MAP_TYPE 0x0f

#define MAP_FLAGS                                                                       \
	(MAP_TYPE | SF_MAP_FIXED | SF_MAP_LOCKED | SF_MAP_NORESERVE | SF_MAP_POPULATE | \
	 SF_MAP_FIXED_NOREPLACE)

void space_look_around(const struct sf_space *space, uintptr_t start, uintptr_t end,
		       struct space_around *around)
{
	struct vma *low = start ? vma_tree_find(&space->tree, start - 1) : NULL;
	struct vma *high = vma_tree_find(&space->tree, end);

	around->has_previous = low != NULL;
	around->cut_low = low && low->end > start;
	if (low) {
		struct vma_shape shape = vma_shape(low);

		around->previous = vma_shape_part(&shape, shape.start, shape.end < start ? shape.end : start);
	}
	around->has_next = high != NULL;
	around->cut_high = high && high->start < end;
	if (high) {
		struct vma_shape shape = vma_shape(high);

		around->next = vma_shape_part(&shape, shape.start > end ? shape.start : end, shape.end);
	}
}

static uint64_t pages_mapped(const struct sf_space *space, uintptr_t start, uintptr_t end)
{
	uint64_t bytes = 0;

	for (struct vma *vma = vma_tree_next(&space->tree, start); vma && vma->start < end;
	     vma = vma_tree_next(&space->tree, vma->end))
		bytes += (vma->end < end ? vma->end : end) - (vma->start > start ? vma->start : start);
	return bytes >> PORT_PAGE_SHIFT;
}

/* Cuts what crosses `at`, if that is possible. */
static void cut(struct sf_space *space, uintptr_t at)
{
	struct vma *vma = vma_tree_find(&space->tree, at);
	struct vma_shape shape;
	struct space_edit edit;

	if (!vma || vma->start == at)
		return;
	shape = vma_shape(vma);
	edit_begin(&edit, space);
	edit_replace(&edit, shape.start, shape.end);
	edit_add_part(&edit, &shape, shape.start, at);
	edit_add_part(&edit, &shape, at, shape.end);
	(void)edit_apply(&edit);
}

/* Puts `shape` in the place of all that lies there. */
static int replace_locked(struct sf_space *space, const struct vma_shape *shape)
{
	uintptr_t start = shape->start, end = shape->end;
	struct vma *first = vma_tree_next(&space->tree, start);
	bool overlaps = first && first->start < end, with_previous, with_next;
	struct space_around around;
	struct vma_shape whole;
	struct space_edit edit;
	int error;

	/* A hole is cut into a VMA before it is known whether the new one fills it without a seam. */
	if (overlaps && first->start < start && first->end > end && space->map_count >= space->limit_maps)
		return -ENOMEM;
	if (!may_expand(space, ((end - start) >> PORT_PAGE_SHIFT) - pages_mapped(space, start, end))) {
		/* Linux has cut what crosses the ends by now, and leaves it so. */
		cut(space, start);
		cut(space, end);
		return -ENOMEM;
	}
	space_look_around(space, start, end, &around);
	whole = vma_merge(shape, around.has_previous ? &around.previous : NULL,
			  around.has_next ? &around.next : NULL, &with_previous, &with_next);

	edit_begin(&edit, space);
	edit_replace(&edit, with_previous || around.cut_low ? around.previous.start : start,
		     with_next || around.cut_high ? around.next.end : end);
	if (around.cut_low && !with_previous)
		edit_add(&edit, &around.previous);
	edit_add(&edit, &whole);
	if (around.cut_high && !with_next)
		edit_add(&edit, &around.next);
	error = edit_prepare(&edit);
	if (error)
		return error;
	if (overlaps) {
		struct gather gather;

		edit_detach(&edit);
		tlb_gather_mmu(&gather, &space->table);
		table_zap(&space->table, start, end, &gather);
		tlb_finish_mmu(&gather);
		edit_commit(&edit);
	} else {
		edit_commit(&edit);
		edit_detach(&edit);
	}
	edit_finish(&edit);
	return 0;
}

static uint32_t vma_flags(int protection, int flags)
{
	uint32_t result = (uint32_t)protection & VM_PROTECTION;

	if (flags & SF_MAP_LOCKED)
		result |= VM_LOCKED;
	if (flags & SF_MAP_NORESERVE)
		result |= VM_NORESERVE;
	if ((flags & MAP_TYPE) == SF_MAP_SHARED)
		result |= VM_SHARED;
	else if ((result & (VM_WRITE | VM_NORESERVE)) == VM_WRITE)
		result |= VM_ACCOUNT;
	return result;
}

/* Whether all that would be mapped has offsets that a size can reach. */
static bool offset_fits(uint64_t page_offset, uint64_t length)
{
	return page_offset <= (SF_OBJECT_BYTES_MAX - length) >> PORT_PAGE_SHIFT;
}

/* Of anonymous memory that is private, the page offset is its place; an object's is given. */
static int map_locked(struct sf_space *space, uintptr_t address, uint64_t length, int flags,
		      struct vma_shape *shape)
{
	bool fixed = flags & (SF_MAP_FIXED | SF_MAP_FIXED_NOREPLACE);
	bool anonymous = !shape->object && !(flags & SF_MAP_SHARED);
	int type = flags & MAP_TYPE, error;
	struct vma *vma;

	if (space->map_count > space->limit_maps)
		return -ENOMEM;
	error = space_place_locked(space, address, length, fixed, anonymous, &shape->start);
	if (error)
		return error;
	shape->end = shape->start + length;
	if (flags & SF_MAP_FIXED_NOREPLACE) {
		vma = vma_tree_next(&space->tree, shape->start);
		if (vma && vma->start < shape->end)
			return -EEXIST;
	}
	if (flags & SF_MAP_LOCKED) {
		if (!space->limit_locked)
			return -EPERM;
		if (!may_lock(space, length >> PORT_PAGE_SHIFT))
			return -EAGAIN;
	}
	if (!offset_fits(shape->page_offset, length))
		return -EOVERFLOW;
	if (type != SF_MAP_SHARED && type != SF_MAP_PRIVATE)
		return -EINVAL;
	if (!shape->object)
		shape->page_offset = shape->start >> PORT_PAGE_SHIFT;
	return replace_locked(space, shape);
}

static int map(struct sf_space *space, uintptr_t address, uint64_t length, int flags, struct vma_shape *shape)
{
	int error;

	if (!(flags & (SF_MAP_FIXED | SF_MAP_FIXED_NOREPLACE))) {
		address &= ~(uintptr_t)(PORT_PAGE_SIZE - 1);
		if (address && address < space->parts.map_min)
			address = space->parts.map_min;
	}
	down_write(&space->lock);
	error = map_locked(space, address, length, flags, shape);
	up_write(&space->lock);
	return error;
}

/* What is checked first, whatever is mapped. */
static int check_map(uint64_t *length, int flags)
{
	if (!*length || (flags & ~MAP_FLAGS))
		return -EINVAL;
	*length = page_align(*length);
	return !*length || *length > SPACE_END ? -ENOMEM : 0;
}

static void mapped_at(const struct vma_shape *shape, int flags, uintptr_t *mapped, bool *populate)
{
	*mapped = shape->start;
	*populate = flags & (SF_MAP_LOCKED | SF_MAP_POPULATE);
}

int space_map(struct sf_space *space, uintptr_t address, uint64_t length, int protection, int flags,
	      uintptr_t *mapped, bool *populate)
{
	struct vma_shape shape = {.flags = vma_flags(protection, flags)};
	struct sf_object *object = NULL;
	int error;

	if (!(flags & SF_MAP_ANONYMOUS))
		return -EBADF;
	flags &= ~SF_MAP_ANONYMOUS;
	error = check_map(&length, flags);
	if (!error && (flags & MAP_TYPE) == SF_MAP_SHARED)
		error = shmem_create(space->parts.objects, length, 0, &object);
	if (error)
		return error;
	if (object)
		shape.object = &object->object;
	error = map(space, address, length, flags, &shape);
	if (object)
		object_put(&object->object);
	if (!error)
		mapped_at(&shape, flags, mapped, populate);
	return error;
}

int space_map_object(struct sf_space *space, uintptr_t address, uint64_t length, int protection, int flags,
		     struct sf_object *object, uint64_t offset, uintptr_t *mapped, bool *populate)
{
	struct vma_shape shape = {
	    .flags = vma_flags(protection, flags),
	    .page_offset = offset >> PORT_PAGE_SHIFT,
	    .object = &object->object,
	};
	int error = -EINVAL;

	if (page_aligned(offset) && object->objects == space->parts.objects)
		error = check_map(&length, flags);
	if (!error)
		error = map(space, address, length, flags, &shape);
	if (!error)
		mapped_at(&shape, flags, mapped, populate);
	return error;
}

int space_map_pfn(struct sf_space *space, uintptr_t address, uint64_t length, struct object *object,
		  bool writable)
{
	const struct vma_shape shape = {
	    .start = address,
	    .end = address + length,
	    .flags = VM_PFN | VM_SHARED | VM_READ | (writable ? VM_WRITE : 0),
	    .object = object,
	};
	struct vma *next;
	struct space_edit edit;
	int error;

	down_write(&space->lock);
	next = vma_tree_next(&space->tree, address);
	if (next && next->start < shape.end) {
		error = -EEXIST;
	} else {
		edit_begin(&edit, space);
		edit_replace(&edit, shape.start, shape.end);
		edit_add(&edit, &shape);
		error = edit_apply(&edit);
	}
	up_write(&space->lock);
	return error;
}
