/* SPDX-License-Identifier: MIT */
/*
 * What must hold of page tables while nothing runs.
 */
#include "mm/table/table.h"

#include <errno.h>
#include <inttypes.h>

struct walk {
	struct table *table;
	table_visit *visit;
	void *argument;
	uint64_t frames_used;
	struct message *why;
};

static int check_level(struct walk *walk, uint64_t pfn, int level, uintptr_t address)
{
	struct frames *frames = walk->table->frames;
	struct page *page = pfn_to_page(frames, pfn);
	int error = 0;

	if (pfn >= frames->own || !page_has_flag(page, PG_table) || atomic_load(&page->refcount) != 1 ||
	    page->table.frames != frames)
		return message_set(walk->why, -EINVAL,
				   "address %#" PRIxPTR ": frame %" PRIu64
				   " stands for a page table of level %d and is none",
				   address, pfn, level);
	walk->frames_used++;
	for (unsigned i = 0; i < TABLE_ENTRIES && !error; i++, address += table_entry_bytes(level)) {
		uint64_t entry = atomic_load(&table_of(walk->table, page)->entry[i]);

		if (!entry)
			continue;
		if (!(entry & PTE_PRESENT) || address >= TABLE_ADDRESS_END)
			error = message_set(walk->why, -EINVAL,
					    "address %#" PRIxPTR ": level %d has the entry %#" PRIx64,
					    address, level, entry);
		else if (level == 1)
			error = walk->visit(walk->argument, address, entry, walk->why);
		else if (entry != pte_make_table(pte_pfn(entry)))
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

	*frames_used += walk.frames_used;
	return error;
}
