/* SPDX-License-Identifier: MIT */
/*
 * Calls on ranges of addresses that are about the objects behind them: msync, and madvise's REMOVE. The
 * space's lock is not held while an object is at work, so mappings may change in between.
 */
#include <errno.h>

#include "mm/system/internal.h"
#include "mm/system/object.h"
#include "port/page.h"

/* The bytes of the object that a VMA maps at [start, end), which lies in it. */
static uint64_t offset_of(const struct vma_view *vma, uintptr_t start)
{
	return (vma->page_offset << PORT_PAGE_SHIFT) + (start - vma->start);
}

static void put(const struct vma_view *vma)
{
	if (vma->object)
		object_put(&vma->object->object);
}

static int remove_part(const struct vma_view *vma, uintptr_t start, uintptr_t end)
{
	if ((vma->flags & VM_LOCKED) || !vma->object)
		return -EINVAL;
	if (!(vma->flags & VM_SHARED))
		return -EACCES;
	return object_punch(vma->object, offset_of(vma, start), end - start);
}

int remove_advised(struct sf_space *space, uintptr_t start, uintptr_t end)
{
	struct vma_view vma;
	int result = 0, error = 0;

	while (start < end && !error) {
		if (!space_view(space, start, &vma))
			return -ENOMEM;
		if (start < vma.start) {
			result = -ENOMEM;
			start = vma.start;
		}
		if (start < end)
			error = remove_part(&vma, start, vma.end < end ? vma.end : end);
		put(&vma);
		start = vma.end;
	}
	return error ? error : result;
}

static int sync_part(const struct vma_view *vma, uintptr_t start, uintptr_t end, int flags)
{
	if ((flags & SF_SYNC_INVALIDATE) && (vma->flags & VM_LOCKED))
		return -EBUSY;
	if (!(flags & SF_SYNC_SYNC) || !vma->object || !(vma->flags & VM_SHARED))
		return 0;
	return object_sync(vma->object, offset_of(vma, start), end - start);
}

static int sync_range(struct sf_space *space, uintptr_t start, uintptr_t end, int flags)
{
	struct vma_view vma;
	int result = 0, error = 0;

	while (start < end && !error) {
		if (!space_view(space, start, &vma))
			return -ENOMEM;
		if (start < vma.start) {
			result = -ENOMEM;
			start = vma.start;
			if (flags == SF_SYNC_ASYNC)
				error = -ENOMEM;
		}
		if (start < end && !error)
			error = sync_part(&vma, start, vma.end < end ? vma.end : end, flags);
		put(&vma);
		start = vma.end;
	}
	return error ? error : result;
}

int sf_sync(struct sf_space *space, uint64_t address, uint64_t length, int flags)
{
	struct sf_system *system = system_enter_call(space);
	uint64_t end = address + ((length + PORT_PAGE_SIZE - 1) & ~(uint64_t)(PORT_PAGE_SIZE - 1));
	int error;

	if ((flags & ~(SF_SYNC_ASYNC | SF_SYNC_INVALIDATE | SF_SYNC_SYNC)) || address % PORT_PAGE_SIZE ||
	    ((flags & SF_SYNC_ASYNC) && (flags & SF_SYNC_SYNC)))
		error = -EINVAL;
	else
		error = end < address ? -ENOMEM : sync_range(space, address, end, flags);
	system_exit_call(system);
	return error;
}
