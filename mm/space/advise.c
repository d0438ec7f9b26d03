/* SPDX-License-Identifier: MIT */
/*
 * madvise. What runs into a hole does the rest all the same, and then says -ENOMEM.
 */
#include <errno.h>

#include "mm/space/internal.h"
#include "mm/table/range.h"

/* Does its part for [start, end) of `vma`; *after is where to go on. */
typedef int visit(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end, int advice,
		  uintptr_t *after);

static int discard(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end, int advice,
		   uintptr_t *after)
{
	struct gather gather;

	*after = end;
	if (advice == SF_ADVICE_WILLNEED)
		return 0; /* a hint: what is out comes with its next touch */
	if (vma->flags & (VM_LOCKED | VM_PFN))
		return -EINVAL;
	if (advice == SF_ADVICE_FREE && vma->object)
		return -EINVAL;
	tlb_gather_mmu(&gather, &space->table);
	if (advice == SF_ADVICE_FREE)
		table_mark_free(&space->table, start, end, &gather);
	else
		table_zap_pages(&space->table, start, end, &gather);
	tlb_finish_mmu(&gather);
	return 0;
}

static int hint(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end, int advice,
		uintptr_t *after)
{
	uint32_t flags = vma->flags;
	int error;

	*after = vma->end;
	if (advice != SF_ADVICE_NORMAL) {
		flags &= ~(uint32_t)(VM_HUGEPAGE | VM_NOHUGEPAGE);
		flags |= advice == SF_ADVICE_HUGEPAGE ? VM_HUGEPAGE : VM_NOHUGEPAGE;
	}
	if (flags == vma->flags)
		return 0;
	error = space_modify_locked(space, vma, start, end, flags, after);
	return error == -ENOMEM ? -EAGAIN : error;
}

static int walk_locked(struct sf_space *space, uintptr_t start, uintptr_t end, int advice, visit *visit)
{
	int result = 0;

	while (start < end) {
		struct vma *vma = vma_tree_next(&space->tree, start);
		int error;

		if (!vma)
			return -ENOMEM;
		if (start < vma->start) {
			result = -ENOMEM;
			start = vma->start;
			if (start >= end)
				break;
		}
		error = visit(space, vma, start, vma->end < end ? vma->end : end, advice, &start);
		if (error)
			return error;
	}
	return result;
}

int space_advised_range(uintptr_t address, uint64_t length, uintptr_t *end)
{
	*end = address + page_align(length);
	if (!page_aligned(address) || (length && !page_align(length)) || *end < address)
		return -EINVAL;
	return 0;
}

int space_advise(struct sf_space *space, uintptr_t address, uint64_t length, int advice)
{
	bool discards =
	    advice == SF_ADVICE_DONTNEED || advice == SF_ADVICE_FREE || advice == SF_ADVICE_WILLNEED;
	uintptr_t end;
	int error;

	if (!discards && advice != SF_ADVICE_NORMAL && advice != SF_ADVICE_HUGEPAGE &&
	    advice != SF_ADVICE_NOHUGEPAGE)
		return -EINVAL;
	error = space_advised_range(address, length, &end);
	if (error || end == address)
		return error;
	if (discards) {
		down_read(&space->lock);
		error = walk_locked(space, address, end, advice, discard);
		up_read(&space->lock);
	} else {
		down_write(&space->lock);
		error = walk_locked(space, address, end, advice, hint);
		up_write(&space->lock);
	}
	return error;
}
