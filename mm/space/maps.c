/* SPDX-License-Identifier: MIT */
#include "mm/space/maps.h"

#include <errno.h>

#include "mm/object/cache.h"
#include "mm/swap/swap_entry.h"
#include "mm/table/range.h"
#include "port/page.h"

struct smap {
	const struct frames *frames;
	struct sf_mapping *mapping;
};

static int add_entry(void *argument, uintptr_t address, uint64_t pte)
{
	struct smap *smap = argument;
	struct sf_mapping *mapping = smap->mapping;
	const struct page *page = pfn_to_page(smap->frames, pte_pfn(pte));
	bool dirty = pte & PTE_DIRTY;

	(void)address;
	if (pte_is_swap(pte))
		mapping->swapped += PORT_PAGE_SIZE;
	if (!pte_maps(pte) || (pte & PTE_SPECIAL))
		return 0;
	mapping->resident += PORT_PAGE_SIZE;
	if (pte & PTE_ACCESSED)
		mapping->referenced += PORT_PAGE_SIZE;
	if (page_has_flag(page, PG_anonymous)) {
		mapping->anonymous += PORT_PAGE_SIZE;
		if (page_has_flag(page, PG_lazy_free) && !dirty)
			mapping->lazy_free += PORT_PAGE_SIZE;
	}
	if (page_mapcount(page) > 1)
		*(dirty ? &mapping->shared_dirty : &mapping->shared_clean) += PORT_PAGE_SIZE;
	else
		*(dirty ? &mapping->private_dirty : &mapping->private_clean) += PORT_PAGE_SIZE;
	return 0;
}

int space_next_mapping(struct sf_space *space, uintptr_t address, struct sf_mapping *mapping)
{
	struct smap smap = {.frames = space->parts.frames, .mapping = mapping};
	const struct vma *vma;

	down_read(&space->lock);
	vma = vma_tree_next(&space->tree, address);
	if (vma) {
		*mapping = (struct sf_mapping){
		    .start = vma->start,
		    .end = vma->end,
		    .protection = (int)(vma->flags & VM_PROTECTION),
		    .shared = vma->flags & VM_SHARED,
		    .locked = vma->flags & VM_LOCKED,
		    .offset = vma->object ? vma->page_offset << PORT_PAGE_SHIFT : 0,
		};
		table_for_each(&space->table, vma->start, vma->end, add_entry, &smap);
	}
	up_read(&space->lock);
	return vma ? 0 : -ENOENT;
}

bool space_view(struct sf_space *space, uintptr_t address, struct vma_view *view)
{
	const struct vma *vma;

	down_read(&space->lock);
	vma = vma_tree_next(&space->tree, address);
	if (vma) {
		*view = (struct vma_view){
		    .start = vma->start,
		    .end = vma->end,
		    .flags = vma->flags,
		    .page_offset = vma->page_offset,
		    .object = object_cached(vma->object),
		};
		if (view->object)
			object_get(&view->object->object);
	}
	up_read(&space->lock);
	return vma != NULL;
}

static uint64_t peak_resident(const struct sf_space *space, uint64_t resident)
{
	uint64_t peak = atomic_load_explicit(&space->peak_resident, memory_order_relaxed);

	return peak > resident ? peak : resident;
}

void space_note_resident_locked(struct sf_space *space, uint64_t pages)
{
	uint64_t peak = atomic_load_explicit(&space->peak_resident, memory_order_relaxed);

	space->unlooked_pages += pages;
	if (space->total_pages <= peak || space->unlooked_pages <= peak / 16)
		return;
	space->unlooked_pages = 0;
	peak = peak_resident(space, table_counted(&space->table, TABLE_RESIDENT));
	atomic_store_explicit(&space->peak_resident, peak, memory_order_relaxed);
}

void space_statistics(struct sf_space *space, struct sf_space_statistics *statistics)
{
	uint64_t resident, minor = 0, major = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct space_cpu *counts = percpu_of(&space->cpu, cpu);

		minor += atomic_load_explicit(&counts->minor_faults, memory_order_relaxed);
		major += atomic_load_explicit(&counts->major_faults, memory_order_relaxed);
	}
	down_read(&space->lock);
	resident = table_counted(&space->table, TABLE_RESIDENT);
	*statistics = (struct sf_space_statistics){
	    .size = space->total_pages << PORT_PAGE_SHIFT,
	    .peak_size = space->peak_pages << PORT_PAGE_SHIFT,
	    .locked = space->locked_pages << PORT_PAGE_SHIFT,
	    .resident = resident << PORT_PAGE_SHIFT,
	    .peak_resident = peak_resident(space, resident) << PORT_PAGE_SHIFT,
	    .page_tables = table_counted(&space->table, TABLE_TABLES) << PORT_PAGE_SHIFT,
	    .swapped = table_counted(&space->table, TABLE_SWAPPED) << PORT_PAGE_SHIFT,
	    .map_count = space->map_count,
	    .minor_faults = minor,
	    .major_faults = major,
	};
	up_read(&space->lock);
}
