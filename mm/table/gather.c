/* SPDX-License-Identifier: MIT */
#include "mm/table/gather.h"

#include "mm/table/table.h"

void gather_begin(struct gather *gather, struct table *table)
{
	gather->table = table;
	gather->start = UINTPTR_MAX;
	gather->end = 0;
	gather->changing = translations_change_begin(&table->translations);
	gather->write_protecting = false;
	gather->count = 0;
}

static void release_pages(struct frames *frames, struct page **pages, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		page_put(frames, pages[i]);
}

void gather_flush(struct gather *gather)
{
	if (gather->start < gather->end)
		table_flush(gather->table, gather->start, gather->end);
	release_pages(gather->table->frames, gather->pages, gather->count);
	gather->start = UINTPTR_MAX;
	gather->end = 0;
	gather->count = 0;
}

void gather_flush_range(struct gather *gather, uintptr_t start, uintptr_t end)
{
	if (start < gather->start)
		gather->start = start;
	if (end > gather->end)
		gather->end = end;
}

void gather_page(struct gather *gather, uintptr_t address, struct page *page)
{
	if (!gather_room(gather))
		gather_flush(gather);
	gather_flush_range(gather, address, address + PORT_PAGE_SIZE);
	gather->pages[gather->count++] = page;
}

/*
 * A fault reads the count after an entry, so a fault that sees an entry protected sees at least this number.
 */
void gather_write_protect(struct gather *gather)
{
	if (gather->write_protecting)
		return;
	gather->write_protecting = true;
	atomic_fetch_add_explicit(&gather->table->translations.write_protecting, 1, memory_order_acq_rel);
}

void gather_end(struct gather *gather)
{
	struct translations *translations = &gather->table->translations;

	if (gather->changing && gather->start >= gather->end)
		translations_flush_nested(translations);
	gather_flush(gather);
	if (gather->write_protecting)
		atomic_fetch_add_explicit(&translations->write_protecting, 1, memory_order_acq_rel);
	if (gather->changing)
		translations_change_end(translations);
}
