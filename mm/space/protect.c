/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "mm/space/internal.h"
#include "mm/table/range.h"

/* How the flags of private memory follow its protection: memory that may have been written to stays counted.
 */
static uint32_t protected_flags(const struct vma *vma, int protection)
{
	uint32_t flags = (vma->flags & ~(uint32_t)VM_PROTECTION) | (uint32_t)protection;

	if (flags == vma->flags)
		return flags;
	if (flags & VM_WRITE) {
		if (!(vma->flags & (VM_ACCOUNT | VM_WRITE | VM_SHARED | VM_NORESERVE)))
			flags |= VM_ACCOUNT;
	} else if (!vma->object && !atomic_load_explicit(&vma->anon, memory_order_relaxed)) {
		flags &= ~(uint32_t)VM_ACCOUNT;
	}
	return flags;
}

static int protect_part(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end,
			uint32_t flags, uintptr_t *after)
{
	struct gather gather;
	int error;

	if (flags == vma->flags) {
		*after = vma->end;
		return 0;
	}
	error = space_modify_locked(space, vma, start, end, flags, after);
	if (error)
		return error;
	tlb_gather_mmu(&gather, &space->table);
	table_protect(&space->table, start, end, flags & VM_PROTECTION, flags & VM_WRITE, flags & VM_EXEC,
		      &gather);
	tlb_finish_mmu(&gather);
	return 0;
}

static void add_range(struct populate_list *list, uintptr_t start, uintptr_t end)
{
	struct populate_range *last = &list->range[list->count ? list->count - 1 : 0];

	if (list->count && (last->end == start || list->count == POPULATE_RANGES_MAX))
		last->end = end;
	else
		list->range[list->count++] = (struct populate_range){start, end};
}

static int protect_locked(struct sf_space *space, uintptr_t start, uintptr_t end, int protection,
			  struct populate_list *populate)
{
	while (start < end) {
		struct vma *vma = vma_tree_find(&space->tree, start);
		uint32_t flags;
		uintptr_t stop, after;
		bool locked_gets_writable;
		int error;

		if (!vma)
			return -ENOMEM;
		flags = protected_flags(vma, protection);
		stop = vma->end < end ? vma->end : end;
		locked_gets_writable =
		    (vma->flags & (VM_WRITE | VM_SHARED | VM_LOCKED)) == VM_LOCKED && (flags & VM_WRITE);
		error = protect_part(space, vma, start, stop, flags, &after);
		if (error)
			return error;
		if (locked_gets_writable) {
			/* Linux faults it in before it looks at the next VMA, which may merge with this one.
			 */
			space_anon_prepare(space, vma_tree_find(&space->tree, start));
			add_range(populate, start, stop);
		}
		start = after;
	}
	return 0;
}

int space_protect(struct sf_space *space, uintptr_t address, uint64_t length, int protection,
		  struct populate_list *populate)
{
	uint64_t end;
	int error;

	populate->count = 0;
	if (!page_aligned(address))
		return -EINVAL;
	if (!length)
		return 0;
	end = address + page_align(length);
	if (end <= address)
		return -ENOMEM;
	/* PROT_SEM is allowed, and means nothing. */
	if (protection & ~(SF_PROT_READ | SF_PROT_WRITE | SF_PROT_EXEC | 8))
		return -EINVAL;
	protection &= SF_PROT_READ | SF_PROT_WRITE | SF_PROT_EXEC;
	down_write(&space->lock);
	error = protect_locked(space, address, end, protection, populate);
	up_write(&space->lock);
	return error;
}
