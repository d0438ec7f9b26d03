/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "mm/space/internal.h"
#include "mm/space/maps.h"
#include "mm/table/range.h"

/* Lets go of the page tables between what is still mapped on both sides. */
static void unhook(struct sf_space *space, uintptr_t start, uintptr_t end)
{
	const struct vma *previous = vma_tree_previous(&space->tree, start);
	const struct vma *next = vma_tree_next(&space->tree, end);
	uintptr_t floor = start - start % TABLE_BYTES, ceiling = table_run_end(end - 1, UINTPTR_MAX);

	/* Tables further away have lost nothing. */
	if (previous && previous->end > floor)
		floor = previous->end;
	if (next && next->start < ceiling)
		ceiling = next->start;
	table_unhook(&space->table, floor, ceiling);
}

static void unmap_single_vma(struct gather *gather, struct table *table, const struct vma *vma,
			     uintptr_t start, uintptr_t end)
{
	table_zap_pages(table, vma->start > start ? vma->start : start, vma->end < end ? vma->end : end,
			gather);
}

/* Empties the part [start, end) of the VMAs that are taken away. */
static void unmap_vmas(struct gather *gather, struct table *table, const struct space_edit *edit,
		       uintptr_t start, uintptr_t end)
{
	for (const struct vma *vma = edit->old; vma; vma = vma->next)
		unmap_single_vma(gather, table, vma, start, end);
}

static void unmap_region(struct sf_space *space, const struct space_edit *edit, uintptr_t start,
			 uintptr_t end)
{
	struct gather gather;

	tlb_gather_mmu(&gather, &space->table);
	unmap_vmas(&gather, &space->table, edit, start, end);
	unhook(space, start, end);
	tlb_finish_mmu(&gather);
}

int space_unmap_locked(struct sf_space *space, uintptr_t start, uintptr_t end)
{
	struct vma *first = vma_tree_next(&space->tree, start), *last;
	struct vma_shape low, high;
	uintptr_t from, to;
	struct space_edit edit;
	int error;

	if (!first || first->start >= end)
		return 0;
	last = vma_tree_previous(&space->tree, end);
	/* What a limit forbids is to end up with more; so only the hole in the middle of a VMA is refused. */
	if (first->start < start && first->end > end && space->map_count >= space->limit_maps)
		return -ENOMEM;
	low = vma_shape(first);
	high = vma_shape(last);
	from = low.start < start ? start : low.start;
	to = high.end > end ? end : high.end;
	edit_begin(&edit, space);
	edit_replace(&edit, low.start, high.end);
	edit_add_part(&edit, &low, low.start, start);
	edit_add_part(&edit, &high, end, high.end);
	error = edit_prepare(&edit);
	if (error)
		return error;
	space_note_resident_locked(space, (to - from) >> PORT_PAGE_SHIFT);
	edit_commit(&edit);
	edit_detach(&edit);
	unmap_region(space, &edit, start, end);
	edit_finish(&edit);
	return 0;
}

int space_unmap(struct sf_space *space, uintptr_t address, uint64_t length)
{
	uint64_t aligned = page_align(length);
	int error;

	if (!page_aligned(address) || address > SPACE_END || length > SPACE_END - address || !aligned)
		return -EINVAL;
	down_write(&space->lock);
	error = space_unmap_locked(space, address, address + aligned);
	up_write(&space->lock);
	return error;
}
