/* SPDX-License-Identifier: MIT */
/*
 * Entries that come to stand in a second place, or in another one.
 */
#include <errno.h>

#include "mm/swap/swap.h"
#include "mm/table/pte_lock.h"
#include "mm/table/range.h"
#include "mm/table/table_page.h"

/* Stores an entry of the child, which nobody uses yet. */
static void set_child(struct table *child, struct page *child_page, uintptr_t address, uint64_t pte)
{
	atomic_store_explicit(table_entry(child, child_page, address), pte, memory_order_relaxed);
	pte_changed(child, address, 0, pte);
}

/* The parent's entry is locked, so its reference keeps the slot. Returns 0, or -ENOMEM as swap_dup(). */
static int copy_slot(struct table *child, struct page *child_page, struct pte_ref *ref)
{
	int error = swap_dup(child->frames->swap, pte_swap_entry(ref->value));

	if (!error) {
		set_child(child, child_page, ref->address, pte_from_swap(pte_swap_entry(ref->value)));
		table_count(child, TABLE_SWAPPED, 1);
	}
	pte_unlock(ref);
	return error;
}

/*
 * Maps the page of the parent's locked entry in the child too. The page's counts rise while the entry is
 * locked: nobody can take its own mapping away meanwhile.
 */
static int copy_entry(struct table *child, struct page *child_page, struct pte_ref *ref, bool copy_on_write,
		      struct gather *gather)
{
	/* Nobody has touched the page through the child; of shared memory the parent's entry alone is dirty.
	 */
	const uint64_t lose = PTE_ACCESSED | (copy_on_write ? PTE_WRITE : PTE_DIRTY);
	uint64_t pte;

	if (pte_is_swap(ref->value))
		return copy_slot(child, child_page, ref);
	if (!(ref->value & PTE_SPECIAL)) {
		struct page *page = pfn_to_page(child->frames, pte_pfn(ref->value));

		page_get(page);
		page_add_mapping(page);
		table_count(child, TABLE_RESIDENT, 1);
	}
	if (copy_on_write && (ref->value & PTE_WRITE)) {
		gather_flush_range(gather, ref->address, ref->address + PORT_PAGE_SIZE);
		pte = pte_clear_unlock(ref, PTE_WRITE) & ~lose;
	} else {
		pte = ref->value & ~lose;
		pte_unlock(ref);
	}
	set_child(child, child_page, ref->address, pte);
	return 0;
}

int table_copy(struct table *child, struct table *parent, uintptr_t start, uintptr_t end, bool copy_on_write,
	       struct charge *charge, struct gather *gather)
{
	struct pte_ref ref;
	int error = 0;

	if (copy_on_write)
		gather_write_protect(gather);
	while (!error && table_next(parent, &start, end)) {
		uintptr_t run_end = table_run_end(start, end);
		struct page *child_page = table_walk(child, start, charge);

		if (!child_page)
			return -ENOMEM;
		for (; start < run_end && !error; start += PORT_PAGE_SIZE)
			if (pte_lock_existing(parent, start, &ref))
				error = copy_entry(child, child_page, &ref, copy_on_write, gather);
	}
	return error;
}

/* Makes the tables that [start, end) needs at `target`. */
static int make_target(struct table *table, uintptr_t start, uintptr_t end, uintptr_t target,
		       struct charge *charge)
{
	uintptr_t from = start;

	while (table_next(table, &from, end)) {
		uintptr_t run_end = table_run_end(from, end);

		if (!table_walk(table, target + (from - start), charge) ||
		    !table_walk(table, target + (run_end - start) - PORT_PAGE_SIZE, charge))
			return -ENOMEM;
		from = run_end;
	}
	return 0;
}

/* A fault of a VMA that stood here once may hold the entry for a moment; it installs nothing. */
static void set_target(struct table *table, uintptr_t address, uint64_t pte)
{
	struct page *page = table_walk(table, address, NULL);
	_Atomic uint64_t *entry = table_entry(table, page, address);
	uint64_t value;

	table->lock_ops->run_begin(table, page);
	value = pte_read_in_run(entry);
	while (!pte_swap(entry, &value, pte))
		;
	table->lock_ops->run_end(table, page);
	pte_changed(table, address, 0, pte);
}

int table_move(struct table *table, uintptr_t start, uintptr_t end, uintptr_t target, struct charge *charge,
	       struct gather *gather)
{
	uintptr_t from = start;
	struct pte_ref ref;
	int error = make_target(table, start, end, target, charge);

	if (error)
		return error;
	while (table_next(table, &from, end)) {
		uintptr_t run_end = table_run_end(from, end);

		for (; from < run_end; from += PORT_PAGE_SIZE) {
			if (!pte_lock_existing(table, from, &ref))
				continue;
			set_target(table, target + (from - start), pte_set_unlock(&ref, 0));
			gather_flush_range(gather, from, from + PORT_PAGE_SIZE);
		}
	}
	return 0;
}
