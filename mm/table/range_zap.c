/* SPDX-License-Identifier: MIT */
/*
 * Taking translations away, and the tables that held them.
 *
 * A last-level table that is unhooked is freed a grace period later. CPUs that found it before may still
 * touch or lock it, in their read sections. Its entries are empty by then and stay so: whoever locks one now
 * has a VMA that was detached before table_zap() was called, sees that, and installs nothing. A VMA that is
 * put in this place later is found only by walks that start after the unhooking. Upper levels stay until
 * table_destroy().
 */
#include "mm/table/range.h"

#include "mm/swap/swap_entry.h"
#include "mm/table/pte_lock.h"
#include "mm/table/table_page.h"

/* Takes an entry away that is not empty; with page counts and the gather told. */
static void zap_entry(struct table *table, uintptr_t address, uint64_t pte, struct gather *gather)
{
	struct page *page;

	if (pte_is_swap(pte)) {
		tlb_remove_swap(gather, pte);
		return;
	}
	pte_changed(table, address, pte, 0);
	if (pte & PTE_SPECIAL) {
		gather_flush_range(gather, address, address + PORT_PAGE_SIZE);
		return;
	}
	page = pfn_to_page(table->frames, pte_pfn(pte));
	page_remove_mapping(page);
	table_count(table, TABLE_RESIDENT, -1);
	tlb_remove_page(gather, address, page);
}

/* Whether the page has to be told that it is dirty. */
static bool tells_dirty(const struct table *table, uint64_t pte)
{
	return table->frames->set_dirty && pte_maps(pte) && (pte & (PTE_DIRTY | PTE_SPECIAL)) == PTE_DIRTY &&
	       page_has_flag(pfn_to_page(table->frames, pte_pfn(pte)), PG_file);
}

/* Empties an entry inside a run. Returns what it was. */
static uint64_t take_entry(struct table *table, _Atomic uint64_t *entry)
{
	uint64_t value = pte_read_in_run(entry);

	while (value && !pte_swap(entry, &value, tells_dirty(table, value) ? table->lock_ops->held : 0))
		;
	if (value && tells_dirty(table, value)) {
		table->frames->set_dirty(pfn_to_page(table->frames, pte_pfn(value)));
		atomic_store_explicit(entry, 0, memory_order_release);
	}
	return value;
}

/* [start, end) lies in the table of `page`. Returns how far it came before the gather was full. */
static uintptr_t zap_pte_range(struct table *table, struct page *page, uintptr_t start, uintptr_t end,
			       struct gather *gather)
{
	uintptr_t address = start;

	table->lock_ops->run_begin(table, page);
	for (; address < end && gather_room(gather); address += PORT_PAGE_SIZE) {
		uint64_t value = take_entry(table, table_entry(table, page, address));

		if (value)
			zap_entry(table, address, value, gather);
	}
	table->lock_ops->run_end(table, page);
	return address;
}

void table_zap_pages(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather)
{
	struct page *page;

	while ((page = table_next(table, &start, end))) {
		tlb_hold_pages(gather);
		start = zap_pte_range(table, page, start, table_run_end(start, end), gather);
		if (!gather_room(gather)) {
			tlb_flush_mmu_tlbonly(gather);
			tlb_flush_mmu_free(gather);
		}
	}
}

/* The upper entry that points to the last-level table of `address`, which exists. */
static _Atomic uint64_t *hook_of(struct table *table, uintptr_t address)
{
	struct page *page = table->root;

	for (int level = TABLE_LEVELS; level > 2; level--) {
		uint64_t value = atomic_load_explicit(
		    &table_of(table, page)->entry[table_index(address, level)], memory_order_acquire);

		page = pfn_to_page(table->frames, pte_pfn(value));
	}
	return &table_of(table, page)->entry[table_index(address, 2)];
}

void table_unhook(struct table *table, uintptr_t floor, uintptr_t ceiling)
{
	uintptr_t address = (floor + TABLE_BYTES - 1) / TABLE_BYTES * TABLE_BYTES;
	struct page *page;

	while ((page = table_next(table, &address, ceiling)) && ceiling - address >= TABLE_BYTES) {
		atomic_exchange_explicit(hook_of(table, address), 0, memory_order_acq_rel);
		table_page_retire(table, page);
		address += TABLE_BYTES;
	}
}

void table_zap(struct table *table, uintptr_t start, uintptr_t end, struct gather *gather)
{
	table_zap_pages(table, start, end, gather);
	table_unhook(table, start, end);
}
