/* SPDX-License-Identifier: MIT */
/*
 * mlock and munlock.
 */
#include <errno.h>

#include "mm/space/internal.h"
#include "mm/table/range.h"

static int apply_locked(struct sf_space *space, uintptr_t start, uint64_t length, uint32_t locked)
{
	uint64_t end = start + length;

	if (end < start)
		return -EINVAL;
	while (start < end) {
		struct vma *vma = vma_tree_find(&space->tree, start);
		uint32_t flags;
		int error;

		if (!vma)
			return -ENOMEM;
		flags = (vma->flags & ~(uint32_t)VM_LOCKED) | locked;
		if (flags == vma->flags || (vma->flags & VM_PFN)) {
			start = vma->end;
			continue;
		}
		error =
		    space_modify_locked(space, vma, start, vma->end < end ? vma->end : end, flags, &start);
		if (error)
			return error;
	}
	return 0;
}

/* How many pages of [start, end) are locked already. */
static uint64_t pages_locked(const struct sf_space *space, uintptr_t start, uintptr_t end)
{
	uint64_t bytes = 0;

	for (struct vma *vma = vma_tree_next(&space->tree, start); vma && vma->start < end;
	     vma = vma_tree_next(&space->tree, vma->end))
		if (vma->flags & VM_LOCKED)
			bytes +=
			    (vma->end < end ? vma->end : end) - (vma->start > start ? vma->start : start);
	return bytes >> PORT_PAGE_SHIFT;
}

int space_lock(struct sf_space *space, uintptr_t address, uint64_t length, struct populate_range *populate)
{
	uintptr_t start = address & ~(uintptr_t)(PORT_PAGE_SIZE - 1);
	uint64_t aligned = page_align(length + (address - start)), pages = aligned >> PORT_PAGE_SHIFT, limit;
	int error = -ENOMEM;

	*populate = (struct populate_range){0, 0};
	down_write(&space->lock);
	limit = space->limit_locked >> PORT_PAGE_SHIFT;
	if (!space->limit_locked) {
		error = -EPERM;
	} else {
		pages += space->locked_pages;
		if (pages > limit)
			pages -= pages_locked(space, start, start + aligned);
		if (pages <= limit)
			error = apply_locked(space, start, aligned, VM_LOCKED);
	}
	/* Reclaim that has not seen the new VMAs is done with their entries: what it took is faulted in. */
	if (!error) {
		port_rcu_read_lock();
		table_settle(&space->table, start, start + aligned);
		port_rcu_read_unlock();
	}
	up_write(&space->lock);
	if (!error)
		*populate = (struct populate_range){start, start + aligned};
	return error;
}

int space_unlock(struct sf_space *space, uintptr_t address, uint64_t length)
{
	uintptr_t start = address & ~(uintptr_t)(PORT_PAGE_SIZE - 1);
	int error;

	down_write(&space->lock);
	error = apply_locked(space, start, page_align(length + (address - start)), 0);
	up_write(&space->lock);
	return error;
}
