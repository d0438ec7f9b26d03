/* SPDX-License-Identifier: MIT */
/*
 * Changing entries that stay, and looking at them.
 */
#include "mm/page/page_wait.h"
#include "mm/swap/swap.h"
#include "mm/table/pte_lock.h"
#include "mm/table/range.h"
#include "mm/table/table_page.h"

/* What a protection makes of an entry. */
struct protection {
	uint64_t clear, set;
};

/* The next touch of what is out makes an entry as its VMA is then. */
static uint64_t protect(uint64_t pte, const struct protection *protection)
{
	return pte_is_swap(pte) ? pte : (pte & ~protection->clear) | protection->set;
}

/* Whether a touch that `old` let through would fault with `new`. */
static bool loses_right(uint64_t old, uint64_t new)
{
	if (!(old & PTE_PRESENT))
		return false;
	return !(new &PTE_PRESENT) || (old & ~new &PTE_WRITE) || (new & ~old &PTE_NX);
}

static void protect_run(struct table *table, struct page *page, uintptr_t start, uintptr_t end,
			const struct protection *protection, struct gather *gather)
{
	table->lock_ops->run_begin(table, page);
	for (uintptr_t address = start; address < end; address += PORT_PAGE_SIZE) {
		_Atomic uint64_t *entry = table_entry(table, page, address);
		uint64_t value = pte_read_in_run(entry), new = 0;

		while (value && (new = protect(value, protection)) != value && !pte_swap(entry, &value, new))
			;
		if (!value || new == value)
			continue;
		pte_changed(table, address, value, new);
		if (loses_right(value, new))
			gather_flush_range(gather, address, address + PORT_PAGE_SIZE);
	}
	table->lock_ops->run_end(table, page);
}

void table_protect(struct table *table, uintptr_t start, uintptr_t end, bool accessible, bool writable,
		   bool executable, struct gather *gather)
{
	const struct protection protection = {
	    .clear = (accessible ? PTE_PROTNONE : PTE_PRESENT) | (writable ? 0 : PTE_WRITE) |
		     (executable ? PTE_NX : 0),
	    .set = (accessible ? PTE_PRESENT : PTE_PROTNONE) | (executable ? 0 : PTE_NX),
	};
	struct page *page;

	while ((page = table_next(table, &start, end))) {
		uintptr_t run_end = table_run_end(start, end);

		protect_run(table, page, start, run_end, &protection, gather);
		start = run_end;
	}
}

/* What is out is dropped at once. */
static void free_slot(struct pte_ref *ref)
{
	struct frames *frames = ref->table->frames;
	struct page *page;

	pte_set_unlock(ref, 0);
	table_count(ref->table, TABLE_SWAPPED, -1);
	page = swap_put_and_take(frames->swap, pte_swap_entry(ref->value));
	if (page)
		page_put(frames, page);
}

/*
 * That an entry is clean says that its page can be dropped only if the page was never in a slot. One that was
 * is marked by who has the only mapping, and leaves the slot. Others who map it could lose what they have.
 */
static bool may_mark_free(struct frames *frames, struct page *page)
{
	bool alone, taken = false;

	if (!page_has_flag(page, PG_anonymous))
		return false;
	/* One look: who takes a page out of the cache makes it dirty before. */
	if (!(atomic_load_explicit(&page->flags, memory_order_relaxed) & (PG_swapcache | PG_dirty)))
		return true;
	/* With the lock: reclaim could put it into the cache again, where PG_dirty has another meaning. */
	if (page_mapcount(page) != 1 || !page_try_flag(page, PG_locked))
		return false;
	alone = !page_has_flag(page, PG_swapcache);
	if (!alone)
		alone = taken = swap_take_page(frames->swap, page);
	if (alone)
		page_clear_flag(page, PG_dirty);
	page_unlock(page);
	if (taken)
		page_put(frames, page);
	return alone;
}

static void mark_free(struct pte_ref *ref, struct gather *gather)
{
	struct frames *frames = ref->table->frames;
	struct page *page = pfn_to_page(frames, pte_pfn(ref->value));

	if (pte_is_swap(ref->value)) {
		free_slot(ref);
		return;
	}
	if ((ref->value & PTE_SPECIAL) || !may_mark_free(frames, page)) {
		pte_unlock(ref);
		return;
	}
	if (!page_has_flag(page, PG_lazy_free))
		page_set_flag(page, PG_lazy_free);
	/* Again too: the first time it may not have been to be had. */
	lru_lazy_free(frames->lru, page);
	pte_clear_unlock(ref, PTE_ACCESSED | PTE_DIRTY);
	gather_flush_range(gather, ref->address, ref->address + PORT_PAGE_SIZE);
}

void table_mark_free(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather)
{
	struct pte_ref ref;

	/* Pages that still wait could not be moved. */
	lru_add_drain(table->frames->lru);
	while (table_next(table, &start, end)) {
		uintptr_t run_end = table_run_end(start, end);

		for (; start < run_end; start += PORT_PAGE_SIZE)
			if (pte_lock_existing(table, start, &ref))
				mark_free(&ref, gather);
	}
}

int table_for_each(struct table *table, uintptr_t start, uintptr_t end,
		   int (*visit)(void *argument, uintptr_t address, uint64_t pte), void *argument)
{
	struct pte_ref ref;
	int result = 0;

	while (!result && table_next(table, &start, end)) {
		uintptr_t run_end = table_run_end(start, end);

		for (; start < run_end && !result; start += PORT_PAGE_SIZE) {
			if (!pte_lock_existing(table, start, &ref))
				continue;
			result = visit(argument, start, ref.value);
			pte_unlock(&ref);
		}
	}
	return result;
}
