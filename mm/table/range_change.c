/* SPDX-License-Identifier: MIT */
/*
 * Changing entries that stay, and looking at them.
 */
#include "mm/table/pte_lock.h"
#include "mm/table/range.h"
#include "mm/table/table_page.h"

/* What a protection makes of an entry. */
struct protection {
	uint64_t clear, set;
};

static uint64_t protect(uint64_t pte, const struct protection *protection)
{
	return (pte & ~protection->clear) | protection->set;
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

static void mark_free(struct pte_ref *ref, struct gather *gather)
{
	struct page *page = pfn_to_page(ref->table->frames, pte_pfn(ref->value));

	if ((ref->value & PTE_SPECIAL) || !page_has_flag(page, PG_anonymous)) {
		pte_unlock(ref);
		return;
	}
	if (!page_has_flag(page, PG_lazy_free))
		page_set_flag(page, PG_lazy_free);
	pte_clear_unlock(ref, PTE_ACCESSED | PTE_DIRTY);
	gather_flush_range(gather, ref->address, ref->address + PORT_PAGE_SIZE);
}

void table_mark_free(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather)
{
	struct pte_ref ref;

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
