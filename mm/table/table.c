/* SPDX-License-Identifier: MIT */
/*
 * Walking and growing.
 */
#include "mm/table/table.h"

#include <errno.h>

#include "mm/table/table_page.h"
#include "port/mmu.h"
#include "port/panic.h"

int table_init(struct table *table, struct frames *frames)
{
	table->frames = frames;
	table->root = table_page_create(frames);
	return table->root ? 0 : -ENOMEM;
}

static void destroy_level(struct table *table, struct page *page, int level)
{
	struct table_page *entries = table_of(table, page);

	for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
		uint64_t entry = atomic_load_explicit(&entries->entry[i], memory_order_relaxed);

		invariant(level > 1 || !entry);
		if (entry)
			destroy_level(table, pfn_to_page(table->frames, pte_pfn(entry)), level - 1);
	}
	table_page_free(page);
}

void table_destroy(struct table *table)
{
	destroy_level(table, table->root, TABLE_LEVELS);
}

/* Fills an empty upper entry with a new table. Returns the table that is there now, NULL without a frame. */
static struct page *grow(struct table *table, _Atomic uint64_t *entry)
{
	struct page *page = table_page_create(table->frames);
	uint64_t found = 0;

	if (!page)
		return NULL;
	/* Release: the empty table becomes visible with the entry. Acquire: see table.h, table_clear(). */
	if (atomic_compare_exchange_strong_explicit(entry, &found,
						    pte_make_table(page_to_pfn(table->frames, page)),
						    memory_order_acq_rel, memory_order_acquire))
		return page;
	table_page_free(page);
	return pfn_to_page(table->frames, pte_pfn(found));
}

/* Returns the last-level table of `address`; if there is none, makes it when `make` is set, or returns NULL.
 */
static struct page *walk(struct table *table, uintptr_t address, bool make)
{
	struct page *page = table->root;

	for (int level = TABLE_LEVELS; level > 1 && page; level--) {
		_Atomic uint64_t *entry = &table_of(table, page)->entry[table_index(address, level)];
		uint64_t value = atomic_load_explicit(entry, memory_order_acquire);

		if (value)
			page = pfn_to_page(table->frames, pte_pfn(value));
		else
			page = make ? grow(table, entry) : NULL;
	}
	return page;
}

bool table_touch(struct table *table, uintptr_t address, bool write, uint64_t *pte)
{
	const uint64_t allow = PTE_PRESENT | (write ? PTE_WRITE : 0);
	const uint64_t set = PTE_ACCESSED | (write ? PTE_DIRTY : 0);
	struct page *page = walk(table, address, false);
	_Atomic uint64_t *entry;

	if (!page)
		return false;
	entry = &table_of(table, page)->entry[table_index(address, 1)];
	*pte = atomic_load_explicit(entry, memory_order_acquire);
	do {
		if ((*pte & allow) != allow)
			return false;
		if ((*pte & set) == set)
			return true;
	} while (!atomic_compare_exchange_weak_explicit(entry, pte, *pte | set, memory_order_acquire,
							memory_order_acquire));
	*pte |= set;
	return true;
}

uint64_t table_read(struct table *table, uintptr_t address)
{
	struct page *page = walk(table, address, false);

	return page ? atomic_load_explicit(&table_of(table, page)->entry[table_index(address, 1)],
					   memory_order_acquire)
		    : 0;
}

int pte_lock(struct table *table, uintptr_t address, struct pte_ref *ref)
{
	struct page *page = walk(table, address, true);

	if (!page)
		return -ENOMEM;
	table_page_lock(page);
	ref->entry = &table_of(table, page)->entry[table_index(address, 1)];
	ref->page = page;
	ref->address = address;
	return 0;
}

void pte_unlock(struct pte_ref *ref)
{
	table_page_unlock(ref->page);
}

void pte_install(struct table *table, struct pte_ref *ref, uint64_t pte)
{
	invariant((pte & PTE_PRESENT) && !atomic_load_explicit(ref->entry, memory_order_relaxed));
	/* Release: whoever touches through the entry sees what was done to the frame before. */
	atomic_store_explicit(ref->entry, pte, memory_order_release);
	port_mmu_map((uintptr_t)table, ref->address, pte);
}
