/* SPDX-License-Identifier: MIT */
/*
 * What is done to entries because of their object, by who holds no lock of the space. Each entry is locked
 * before its page is looked at: what an unlocked entry says can have become another page's.
 */
#include "mm/swap/swap_entry.h"
#include "mm/table/pte_lock.h"
#include "mm/table/range.h"
#include "mm/table/table_page.h"

/* What a private mapping has of its own, in memory or out, is none. */
static bool maps_object_page(const struct pte_ref *ref)
{
	return !(ref->value & PTE_SPECIAL) &&
	       !page_has_flag(pfn_to_page(ref->table->frames, pte_pfn(ref->value)), PG_anonymous);
}

static void zap(struct pte_ref *ref, struct gather *gather)
{
	struct table *table = ref->table;
	struct page *page = pfn_to_page(table->frames, pte_pfn(ref->value));

	if (pte_is_swap(ref->value)) {
		tlb_remove_swap(gather, pte_set_unlock(ref, 0));
		return;
	}
	if (ref->value & PTE_SPECIAL) {
		gather_flush_range(gather, ref->address, ref->address + PORT_PAGE_SIZE);
		pte_set_unlock(ref, 0);
		return;
	}
	page_remove_mapping(page);
	table_count(table, TABLE_RESIDENT, -1);
	tlb_remove_page(gather, ref->address, page);
	pte_set_unlock(ref, 0);
}

/*
 * Finds the first last-level table at or after *start and ends the range there at the latest. Faults that
 * have an entry of it locked are waited for, where the lock is the table's: entries that are empty are passed
 * over without it, and a fault may have looked at its page and not have filled one yet. Those that come later
 * see what the caller did to the page.
 */
static bool begin_table(struct table *table, uintptr_t *start, uintptr_t *end)
{
	struct page *page = table_next(table, start, *end);

	if (!page)
		return false;
	*end = table_run_end(*start, *end);
	table->lock_ops->run_begin(table, page);
	table->lock_ops->run_end(table, page);
	return true;
}

uintptr_t table_zap_object(struct table *table, uintptr_t start, uintptr_t end, bool keep_anonymous,
			   struct gather *gather)
{
	struct pte_ref ref;

	if (!begin_table(table, &start, &end))
		return end;
	tlb_hold_pages(gather);
	for (; start < end && gather_room(gather); start += PORT_PAGE_SIZE) {
		if (!pte_lock_existing(table, start, &ref))
			continue;
		if (keep_anonymous && !maps_object_page(&ref))
			pte_unlock(&ref);
		else
			zap(&ref, gather);
	}
	return start;
}

/* Takes the right to write away, and the dirty bit; with frames->set_dirty that alone. */
static void clean(struct pte_ref *ref, bool tell)
{
	const struct frames *frames = ref->table->frames;

	if (!(ref->value & (PTE_WRITE | PTE_DIRTY)) || !maps_object_page(ref)) {
		pte_unlock(ref);
	} else if (!frames->set_dirty) {
		pte_clear_unlock(ref, PTE_WRITE | PTE_DIRTY);
	} else {
		/* A touch may make it dirty meanwhile: not a bit that has not been seen. */
		if (tell && (ref->value & PTE_DIRTY))
			frames->set_dirty(pfn_to_page(frames, pte_pfn(ref->value)));
		pte_clear_unlock(ref, ref->value & PTE_DIRTY);
	}
}

/*
 * All of the range is flushed, also where no entry or no table is: somebody who unmaps may have taken an
 * entry away and not have flushed yet, and a CPU may still write through what it was.
 */
uintptr_t table_clean_object(struct table *table, uintptr_t start, uintptr_t end, bool tell,
			     struct gather *gather)
{
	struct pte_ref ref;
	uintptr_t from = start;
	bool found = begin_table(table, &start, &end);

	gather_flush_range(gather, from, end);
	if (!found)
		return end;
	for (; start < end; start += PORT_PAGE_SIZE)
		if (pte_lock_existing(table, start, &ref))
			clean(&ref, tell);
	return end;
}
