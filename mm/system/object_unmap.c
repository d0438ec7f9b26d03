/* SPDX-License-Identifier: MIT */
/*
 * From an object's pages to the entries of all spaces. One last-level table at a time: its entries change in
 * one read section, and who may hold translations is waited for after that.
 */
#include "mm/space/space.h"
#include "mm/system/object.h"
#include "mm/table/range.h"
#include "sync/rcu.h"

struct object_range {
	uint64_t first, end;
	bool keep_copies; /* to unmap */
	bool tell;        /* to protect */
};

/* The addresses at which a space maps the range. */
struct address_range {
	uintptr_t start, end;
};

static struct address_range addresses(const struct object_link *link, const struct object_range *range)
{
	uint64_t first = range->first > link->pages.start ? range->first : link->pages.start;
	uint64_t end = range->end < link->pages.end ? range->end : link->pages.end;

	return (struct address_range){
	    object_link_address(link, first),
	    object_link_address(link, end),
	};
}

static bool unmap_link(struct object_link *link, void *argument)
{
	const struct object_range *range = argument;
	struct address_range at = addresses(link, range);
	struct table *table = link->space->table;
	struct gather gather;

	while (at.start < at.end) {
		port_rcu_read_lock();
		tlb_gather_mmu(&gather, table);
		at.start = table_zap_object(table, at.start, at.end, range->keep_copies, &gather);
		port_rcu_read_unlock();
		tlb_finish_mmu(&gather);
	}
	return true;
}

static bool protect_link(struct object_link *link, void *argument)
{
	const struct object_range *range = argument;
	struct address_range at = addresses(link, range);
	struct table *table = link->space->table;
	struct gather gather;

	if (!link->shared)
		return true;
	while (at.start < at.end) {
		port_rcu_read_lock();
		tlb_gather_mmu(&gather, table);
		at.start = table_clean_object(table, at.start, at.end, range->tell, &gather);
		port_rcu_read_unlock();
		tlb_finish_mmu(&gather);
	}
	return true;
}

void object_unmap(struct sf_object *object, uint64_t first, uint64_t end, bool keep_copies)
{
	struct object_range range = {.first = first, .end = end, .keep_copies = keep_copies};

	if (first < end)
		object_link_walk(object, first, end, unmap_link, &range);
}

void object_protect(struct sf_object *object, uint64_t first, uint64_t end, bool tell)
{
	struct object_range range = {.first = first, .end = end, .tell = tell};

	object_link_walk(object, first, end, protect_link, &range);
}
