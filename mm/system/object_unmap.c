/* SPDX-License-Identifier: MIT */
/*
 * From an object's pages to the entries of all spaces. One last-level table at a time: its entries change in
 * one read section, and who may hold translations is waited for after that.
 */
#include "mm/rmap/rmap.h"
#include "mm/space/space.h"
#include "mm/system/object.h"
#include "mm/table/range.h"
#include "sync/rcu.h"

struct object_range {
	uint64_t first, end;
	bool keep_copies;
};

/* The addresses of a VMA at which it maps the range. */
struct address_range {
	uintptr_t start, end;
};

static struct vma *vma_of(struct interval *interval)
{
	return container_of(interval, struct vma, rmap);
}

static struct address_range addresses(const struct vma *vma, const struct object_range *range)
{
	uint64_t first = range->first > vma->rmap.start ? range->first : vma->rmap.start;
	uint64_t end = range->end < vma->rmap.end ? range->end : vma->rmap.end;

	return (struct address_range){
	    vma->start + ((first - vma->rmap.start) << PORT_PAGE_SHIFT),
	    vma->start + ((end - vma->rmap.start) << PORT_PAGE_SHIFT),
	};
}

static void unmap_vma(struct interval *interval, void *argument)
{
	const struct object_range *range = argument;
	struct vma *vma = vma_of(interval);
	struct address_range at = addresses(vma, range);
	struct table *table = &vma->space->table;
	struct gather gather;

	while (at.start < at.end) {
		port_rcu_read_lock();
		tlb_gather_mmu(&gather, table);
		at.start = table_zap_object(table, at.start, at.end, range->keep_copies, &gather);
		port_rcu_read_unlock();
		tlb_finish_mmu(&gather);
	}
}

static void protect_vma(struct interval *interval, void *argument)
{
	struct vma *vma = vma_of(interval);
	struct address_range at = addresses(vma, argument);
	struct table *table = &vma->space->table;
	struct gather gather;

	if (vma_private(vma))
		return;
	while (at.start < at.end) {
		port_rcu_read_lock();
		tlb_gather_mmu(&gather, table);
		at.start = table_clean_object(table, at.start, at.end, &gather);
		port_rcu_read_unlock();
		tlb_finish_mmu(&gather);
	}
}

void object_unmap(struct sf_object *object, uint64_t first, uint64_t end, bool keep_copies)
{
	struct object_range range = {first, end, keep_copies};

	if (first < end)
		rmap_walk(object, first, end, unmap_vma, &range);
}

void object_protect(struct sf_object *object, uint64_t first, uint64_t end)
{
	struct object_range range = {first, end, false};

	rmap_walk(object, first, end, protect_vma, &range);
}
