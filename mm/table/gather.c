/* SPDX-License-Identifier: MIT */
#include "mm/table/gather.h"

#include "mm/charge/release.h"
#include "mm/swap/swap.h"
#include "mm/table/table.h"
#include "port/rcu.h"

void tlb_gather_mmu(struct gather *gather, struct table *table)
{
	gather->table = table;
	gather->start = UINTPTR_MAX;
	gather->end = 0;
	gather->changing = translations_change_begin(&table->translations);
	gather->write_protecting = gather->holding = false;
	gather->batches = 0;
	gather->active = &gather->local;
	gather->local.next = NULL;
	gather->local.count = 0;
	gather->local.max = GATHER_LOCAL_PAGES;
}

static unsigned batches_max(const struct frames *frames)
{
	return frames->gather_batches ? frames->gather_batches : GATHER_BATCHES_MAX;
}

/* Goes on with the next batch, which is made if need be. Without a frame the gather stays as full as it is.
 */
static void tlb_next_batch(struct gather *gather)
{
	struct frames *frames = gather->table->frames;
	struct gather_batch *batch = gather->active->next;
	struct page *page;

	if (!batch) {
		if (gather->batches == batches_max(frames))
			return;
		page = frame_alloc(frames);
		if (!page)
			return;
		gather->batches++;
		batch = page_address(frames, page);
		batch->next = NULL;
		batch->count = 0;
		batch->max = GATHER_BATCH_PAGES;
		gather->active->next = batch;
	}
	gather->active = batch;
}

void gather_flush_range(struct gather *gather, uintptr_t start, uintptr_t end)
{
	if (start < gather->start)
		gather->start = start;
	if (end > gather->end)
		gather->end = end;
}

void tlb_hold_pages(struct gather *gather)
{
	if (gather->holding)
		return;
	gather->holding = true;
	port_rcu_read_lock();
}

/* The caller's reference is put with the batch. */
static void add_page(struct gather *gather, struct page *page)
{
	struct gather_batch *batch = gather->active;

	invariant(gather->holding);
	batch->page[batch->count++] = page;
	if (batch->count == batch->max)
		tlb_next_batch(gather);
}

void tlb_remove_page(struct gather *gather, uintptr_t address, struct page *page)
{
	gather_flush_range(gather, address, address + PORT_PAGE_SIZE);
	add_page(gather, page);
}

void tlb_remove_swap(struct gather *gather, uint64_t pte)
{
	struct page *page = swap_put_and_take(gather->table->frames->swap, pte_swap_entry(pte));

	table_count(gather->table, TABLE_SWAPPED, -1);
	if (page)
		add_page(gather, page);
}

/* Puts the pages' references, in portions as the policy has them. */
static void free_pages_and_swap_cache(struct frames *frames, struct page **pages, unsigned count)
{
	const unsigned batch = release_pages_batch(frames);

	lru_add_drain(frames->lru);
	for (unsigned i = 0; i < count; i++)
		swap_free_unused(frames->swap, pages[i]);
	while (count) {
		unsigned now = count < batch ? count : batch;

		release_pages(frames, pages, now);
		pages += now;
		count -= now;
	}
}

void tlb_flush_mmu_tlbonly(struct gather *gather)
{
	if (gather->start < gather->end)
		table_flush(gather->table, gather->start, gather->end);
	gather->start = UINTPTR_MAX;
	gather->end = 0;
}

void tlb_flush_mmu_free(struct gather *gather)
{
	for (struct gather_batch *batch = &gather->local; batch && batch->count; batch = batch->next) {
		free_pages_and_swap_cache(gather->table->frames, batch->page, batch->count);
		batch->count = 0;
	}
	gather->active = &gather->local;
	if (gather->holding)
		port_rcu_read_unlock();
	gather->holding = false;
}

static void tlb_flush_mmu(struct gather *gather)
{
	tlb_flush_mmu_tlbonly(gather);
	tlb_flush_mmu_free(gather);
}

static void free_batches(struct gather *gather)
{
	struct frames *frames = gather->table->frames;
	struct gather_batch *next;

	for (struct gather_batch *batch = gather->local.next; batch; batch = next) {
		next = batch->next;
		frame_free(frames, page_of_address(frames, batch));
	}
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

void tlb_finish_mmu(struct gather *gather)
{
	struct translations *translations = &gather->table->translations;

	if (gather->changing && gather->start >= gather->end)
		translations_flush_nested(translations);
	tlb_flush_mmu(gather);
	free_batches(gather);
	if (gather->write_protecting)
		atomic_fetch_add_explicit(&translations->write_protecting, 1, memory_order_acq_rel);
	if (gather->changing)
		translations_change_end(translations);
}
