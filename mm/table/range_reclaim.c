/* SPDX-License-Identifier: MIT */
/*
 * Finding the pages of a range that reclaim is to look at.
 */
#include "mm/table/pte_lock.h"
#include "mm/table/range.h"
#include "mm/table/table_page.h"

/* The page that a locked entry maps, if it is one to be counted and nobody else maps it; or NULL. */
static struct page *page_of_own(const struct pte_ref *ref)
{
	struct page *page = pfn_to_page(ref->table->frames, pte_pfn(ref->value));

	if (!pte_maps(ref->value) || (ref->value & PTE_SPECIAL) || page_mapcount(page) != 1)
		return NULL;
	return page;
}

unsigned table_get_pages(struct table *table, uintptr_t *start, uintptr_t end, bool make_old,
			 struct page **pages, unsigned max)
{
	unsigned count = 0;
	struct pte_ref ref;

	while (count < max && table_next(table, start, end)) {
		uintptr_t run_end = table_run_end(*start, end);

		for (; *start < run_end && count < max; *start += PORT_PAGE_SIZE) {
			struct page *page;

			if (!pte_lock_existing(table, *start, &ref))
				continue;
			page = page_of_own(&ref);
			if (page) {
				page_get(page);
				pages[count++] = page;
			}
			if (page && make_old && (ref.value & PTE_ACCESSED))
				pte_clear_unlock(&ref, PTE_ACCESSED);
			else
				pte_unlock(&ref);
		}
	}
	/* No further table. */
	if (count < max)
		*start = end;
	return count;
}
