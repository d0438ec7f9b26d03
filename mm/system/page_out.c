/* SPDX-License-Identifier: MIT */
/*
 * MADV_COLD and MADV_PAGEOUT: memory that is not needed soon. Pages that others map too are left alone. With
 * nothing held from one batch to the next: the VMAs may change in between.
 */
#include <errno.h>

#include "mm/object/cache.h"
#include "mm/page/lru.h"
#include "mm/reclaim/reclaim.h"
#include "mm/system/internal.h"
#include "mm/table/range.h"

/* Puts the pages where reclaim looks first. */
static void deactivate(struct frames *frames, struct page **pages, unsigned count)
{
	struct lru_run run;

	lru_add_drain(frames->lru);
	lru_run_begin(&run, frames->lru);
	for (unsigned i = 0; i < count; i++) {
		page_clear_flag(pages[i], PG_referenced);
		if (lru_isolate_page(&run, pages[i]))
			lru_putback(&run, pages[i], false);
	}
	lru_run_end(&run);
	for (unsigned i = 0; i < count; i++)
		page_put(frames, pages[i]);
}

static void cool_range(struct sf_space *space, uintptr_t start, uintptr_t end, bool page_out)
{
	struct sf_system *system = space->parts.system;
	struct page *pages[RECLAIM_BATCH];
	unsigned count;

	while (start < end) {
		port_rcu_read_lock();
		count = table_get_pages(&space->table, &start, end, !page_out, pages, RECLAIM_BATCH);
		port_rcu_read_unlock();
		if (page_out)
			reclaim_page_list(system->reclaim, pages, count);
		else
			deactivate(system->frames, pages, count);
	}
}

int cool_advised(struct sf_space *space, uintptr_t start, uintptr_t end, bool page_out)
{
	int result = 0;

	while (start < end) {
		struct vma_view vma;

		if (!space_view(space, start, &vma))
			return -ENOMEM;
		if (vma.object)
			object_put(&vma.object->object);
		if (start < vma.start)
			result = -ENOMEM;
		start = start < vma.start ? vma.start : start;
		if (start >= end)
			break;
		if (vma.flags & (VM_LOCKED | VM_PFN))
			return -EINVAL;
		cool_range(space, start, vma.end < end ? vma.end : end, page_out);
		start = vma.end;
	}
	return result;
}
