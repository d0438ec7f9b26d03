/* SPDX-License-Identifier: MIT */
/*
 * mincore: which pages could be touched without waiting: those with an entry, those that an object holds, and
 * those that are in swap and in its cache.
 */
#include <errno.h>
#include <string.h>

#include "mm/space/internal.h"
#include "mm/swap/swap.h"
#include "mm/table/range.h"

struct residence {
	const struct swap *swap;
	uintptr_t start;
	unsigned char *resident;
};

static int note(void *argument, uintptr_t address, uint64_t pte)
{
	struct residence *residence = argument;

	if (pte_is_swap(pte) ? swap_is_cached(residence->swap, pte_swap_entry(pte)) : pte_maps(pte))
		residence->resident[(address - residence->start) >> PORT_PAGE_SHIFT] = 1;
	return 0;
}

static void look(struct sf_space *space, const struct vma *vma, uintptr_t start, uintptr_t end,
		 unsigned char *resident)
{
	struct residence residence = {
	    .swap = space->parts.frames->swap, .start = start, .resident = resident};
	uint64_t pages = (end - start) >> PORT_PAGE_SHIFT;

	memset(resident, 0, pages);
	table_for_each(&space->table, start, end, note, &residence);
	if (vma->object && vma->object->ops->has_page) {
		uint64_t index = vma_page_index(vma, start);

		port_rcu_read_lock();
		for (uint64_t i = 0; i < pages; i++)
			if (vma->object->ops->has_page(vma->object, index + i))
				resident[i] = 1;
		port_rcu_read_unlock();
	}
}

int space_mincore(struct sf_space *space, uintptr_t address, uint64_t length, unsigned char *resident)
{
	uintptr_t end;
	int error = 0;

	if (!page_aligned(address))
		return -EINVAL;
	if (address > SPACE_END || length > SPACE_END - address)
		return -ENOMEM;
	end = address + page_align(length);
	down_read(&space->lock);
	while (address < end && !error) {
		const struct vma *vma = vma_tree_find(&space->tree, address);
		uintptr_t stop;

		if (!vma) {
			error = -ENOMEM;
		} else {
			stop = vma->end < end ? vma->end : end;
			look(space, vma, address, stop, resident);
			resident += (stop - address) >> PORT_PAGE_SHIFT;
			address = stop;
		}
	}
	up_read(&space->lock);
	return error;
}
