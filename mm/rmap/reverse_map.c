/* SPDX-License-Identifier: MIT */
/*
 * The walk, and what is done to the entries that stay: the scan for references, and cleaning.
 */
#include "mm/rmap/reverse_map.h"

#include <errno.h>

#include "mm/rmap/anon.h"
#include "mm/rmap/object_link.h"
#include "mm/rmap/walk.h"
#include "mm/table/range.h"

static int (*const entry_locks[])(struct table *, uintptr_t, uint64_t, struct pte_ref *) = {
    [POLICY_RMAP_LOCK_TRY] = pte_trylock_mapping,
    [POLICY_RMAP_LOCK_WAIT] = pte_lock_mapping,
};

void rmap_init(struct rmap *rmap, struct frames *frames, const struct policy *policy)
{
	rmap->frames = frames;
	rmap->lock = entry_locks[policy->rmap_lock];
	rmap->dirty_by_pte = policy->dirty_tracking == POLICY_DIRTY_TRACKING_PTE;
	rmap->transfers_dirty = rmap->dirty_by_pte && policy->dirty_transfer == POLICY_DIRTY_TRANSFER_ON;
}

struct object_walk {
	uint64_t index;
	rmap_visit *visit;
	void *argument;
};

static bool visit_link(struct object_link *link, void *argument)
{
	struct object_walk *walk = argument;

	return walk->visit(link->space, object_link_address(link, walk->index), walk->argument);
}

void rmap_walk(struct page *page, rmap_visit *visit, void *argument)
{
	struct object_walk walk = {.index = page->index, .visit = visit, .argument = argument};

	if (page_has_flag(page, PG_anonymous))
		anon_walk(page, visit, argument);
	else if (page_has_flag(page, PG_cached))
		object_link_walk(page->object, walk.index, walk.index + 1, visit_link, &walk);
}

/* A dirty bit that has been seen is moved: one that the hardware sets meanwhile stays for the next look. */
struct scan {
	const struct rmap *rmap;
	struct page *page;
	uint64_t pfn;
	bool moves_dirty;
	struct rmap_found *found;
};

static bool page_referenced_one(struct rmap_space *space, uintptr_t address, void *argument)
{
	struct scan *scan = argument;
	struct rmap_found *found = scan->found;
	struct pte_ref ref;
	int error;

	found->candidates++;
	port_rcu_read_lock();
	error = scan->rmap->lock(space->table, address, scan->pfn, &ref);
	if (!error) {
		uint64_t clear = PTE_ACCESSED | (scan->moves_dirty ? ref.value & PTE_DIRTY : 0);

		found->visited++;
		found->locked |= space->may_unmap(space, address) == -EPERM;
		/* The page first: who finds neither dirty would lose a write. */
		if ((clear & PTE_DIRTY) && page_has_flag(scan->page, PG_file))
			object_set_dirty(scan->page);
		else if (clear & PTE_DIRTY)
			page_set_dirty(scan->page);
		if (pte_clear_unlock(&ref, clear) & PTE_ACCESSED)
			found->references++;
	}
	port_rcu_read_unlock();
	found->skipped += error == -EBUSY;
	return found->visited < page_mapcount(scan->page);
}

void page_referenced(const struct rmap *rmap, struct page *page, struct rmap_found *found)
{
	struct scan scan = {
	    .rmap = rmap,
	    .page = page,
	    .pfn = page_to_pfn(rmap->frames, page),
	    .moves_dirty = page_has_flag(page, PG_anonymous)
			       ? page_has_flag(page, PG_swapcache)
			       : rmap->transfers_dirty && page_has_flag(page, PG_file),
	    .found = found,
	};

	*found = (struct rmap_found){0};
	if (page_mapcount(page))
		rmap_walk(page, page_referenced_one, &scan);
}

struct clean {
	const struct rmap *rmap;
	uint64_t index, pfn;
	bool dirty;
};

static bool clean_one(struct object_link *link, void *argument)
{
	struct clean *clean = argument;
	struct table *table = link->space->table;
	uintptr_t address = object_link_address(link, clean->index), end = address + PORT_PAGE_SIZE;
	struct pte_ref ref;
	bool changing;

	if (!link->shared)
		return true;
	port_rcu_read_lock();
	changing = translations_change_begin(&table->translations);
	table_settle(table, address, end);
	if (!pte_lock_mapping(table, address, clean->pfn, &ref)) {
		uint64_t bits = PTE_DIRTY | (clean->rmap->dirty_by_pte ? 0 : PTE_WRITE);

		clean->dirty |= (pte_clear_unlock(&ref, bits) & PTE_DIRTY) != 0;
	}
	port_rcu_read_unlock();
	/* Also where no entry is: who has taken it away may not have flushed yet, and a CPU still write. */
	table_flush(table, address, end);
	if (changing)
		translations_change_end(&table->translations);
	return true;
}

bool page_mkclean(const struct rmap *rmap, struct page *page)
{
	struct clean clean = {
	    .rmap = rmap,
	    .index = page->index,
	    .pfn = page_to_pfn(rmap->frames, page),
	};

	object_link_walk(page->object, clean.index, clean.index + 1, clean_one, &clean);
	return clean.dirty;
}
