/* SPDX-License-Identifier: MIT */
/*
 * What must hold of page tables while nothing runs.
 */
#include "mm/table/table.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/swap/swap_entry.h"

struct walk {
	struct table *table;
	table_visit *visit;
	void *argument;
	uint64_t tables, resident, swapped;
	struct message *why;
};

/* An entry that is not empty names a slot, or maps something, one way, and is locked by nobody. */
static int check_entry(struct walk *walk, uintptr_t address, uint64_t entry)
{
	const uint64_t maps = entry & (PTE_PRESENT | PTE_PROTNONE);

	if ((maps != PTE_PRESENT && maps != PTE_PROTNONE && !pte_is_swap(entry)) || (entry & PTE_LOCKED) ||
	    address >= TABLE_ADDRESS_END)
		return message_set(walk->why, -EINVAL, "address %#" PRIxPTR ": has the entry %#" PRIx64,
				   address, entry);
	walk->resident += !(entry & PTE_SPECIAL);
	walk->swapped += pte_is_swap(entry);
	return walk->visit(walk->argument, address, entry, walk->why);
}

static int check_level(struct walk *walk, uint64_t pfn, int level, uintptr_t address)
{
	struct frames *frames = walk->table->frames;
	struct page *page = pfn_to_page(frames, pfn);
	struct table_page *entries;
	uintptr_t bytes;
	int error = 0;

	if (pfn >= frames->own || !page_has_flag(page, PG_table) || page_refcount(page) != 1 ||
	    page->table.frames != frames)
		return message_set(walk->why, -EINVAL,
				   "address %#" PRIxPTR ": frame %" PRIu64
				   " stands for a page table of level %d and is none",
				   address, pfn, level);
	walk->tables++;
	entries = table_of(walk->table, page);
	bytes = table_entry_bytes(level);
	for (unsigned i = 0; i < TABLE_ENTRIES && !error; i++, address += bytes) {
		uint64_t entry = atomic_load(&entries->entry[i]);

		if (!entry)
			continue;
		if (level == 1)
			error = check_entry(walk, address, entry);
		else if (entry != pte_make_table(pte_pfn(entry)) || address >= TABLE_ADDRESS_END)
			error = message_set(walk->why, -EINVAL,
					    "address %#" PRIxPTR ": level %d has the entry %#" PRIx64
					    ", which points to no table",
					    address, level, entry);
		else
			error = check_level(walk, pte_pfn(entry), level - 1, address);
	}
	return error;
}

int table_check(struct table *table, table_visit *visit, void *argument, uint64_t *frames_used,
		struct message *why)
{
	struct walk walk = {.table = table, .visit = visit, .argument = argument, .why = why};
	int error = check_level(&walk, page_to_pfn(table->frames, table->root), TABLE_LEVELS, 0);

	*frames_used += walk.tables;
	if (!error && walk.tables != table_counted(table, TABLE_TABLES))
		error = message_set(why, -EINVAL, "a page table has %" PRIu64 " tables and counts %" PRIu64,
				    walk.tables, table_counted(table, TABLE_TABLES));
	if (!error && walk.resident != table_counted(table, TABLE_RESIDENT))
		error = message_set(why, -EINVAL, "a page table maps %" PRIu64 " pages and counts %" PRIu64,
				    walk.resident, table_counted(table, TABLE_RESIDENT));
	if (!error && walk.swapped != table_counted(table, TABLE_SWAPPED))
		error = message_set(why, -EINVAL,
				    "a page table has %" PRIu64 " pages in swap and counts %" PRIu64,
				    walk.swapped, table_counted(table, TABLE_SWAPPED));
	return error;
}
