/* SPDX-License-Identifier: MIT */
/*
 * Taking translations away.
 *
 * A last-level table that lies wholly in the cleared range is unhooked and freed a grace period later. CPUs
 * that found it before may still touch or lock it, in their read sections. Its entries are empty by then and
 * stay so: whoever locks it now has a mapping that was taken away before table_clear() was called, sees that,
 * and installs nothing. A mapping that is made in this place later is found only by walks that start after
 * the unhooking. Upper levels stay until table_destroy().
 */
#include "mm/table/table.h"

#include "mm/table/table_page.h"
#include "port/mmu.h"

/* [start, end) lies in this one table. */
static void clear_last_level(struct table *table, struct page *page, uintptr_t start, uintptr_t end)
{
	struct table_page *entries = table_of(table, page);

	table_page_lock(page);
	for (uintptr_t address = start; address < end; address += PORT_PAGE_SIZE) {
		_Atomic uint64_t *entry = &entries->entry[table_index(address, 1)];

		if (!atomic_load_explicit(entry, memory_order_relaxed))
			continue;
		/* An exchange, for the hardware may set a bit between load and store. */
		atomic_exchange_explicit(entry, 0, memory_order_relaxed);
		port_mmu_unmap((uintptr_t)table, address);
	}
	table_page_unlock(page);
}

static void clear_level(struct table *table, struct page *page, int level, uintptr_t start, uintptr_t end)
{
	const uintptr_t bytes = table_entry_bytes(level);
	struct table_page *entries = table_of(table, page);

	for (uintptr_t next; start < end; start = next) {
		_Atomic uint64_t *entry = &entries->entry[table_index(start, level)];
		uint64_t value = atomic_load_explicit(entry, memory_order_acquire);
		struct page *below;

		next = start - start % bytes + bytes;
		if (next > end)
			next = end;
		/* Empty: the read-modify-write that table.h speaks of. It may find a table after all. */
		if (!value)
			value = atomic_fetch_or_explicit(entry, 0, memory_order_acq_rel);
		if (!value)
			continue;
		below = pfn_to_page(table->frames, pte_pfn(value));
		if (level > 2) {
			clear_level(table, below, level - 1, start, next);
			continue;
		}
		clear_last_level(table, below, start, next);
		if (next - start == bytes) {
			atomic_exchange_explicit(entry, 0, memory_order_acq_rel);
			table_page_retire(below);
		}
	}
}

void table_clear(struct table *table, uintptr_t start, uintptr_t end)
{
	clear_level(table, table->root, TABLE_LEVELS, start, end);
}
