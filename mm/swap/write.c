/* SPDX-License-Identifier: MIT */
/*
 * Swapping out: runs of pages whose slots lie next to each other, some at once. A run that fails is written
 * again page by page, so that only those fail that must.
 */
#include <errno.h>

#include "mm/page/page_wait.h"
#include "mm/swap/area.h"

static void start(struct swap_writer *writer, struct swap_run *run)
{
	struct sf_io *io = &run->io.io;
	struct swap_area *area;

	if (run->started || !io->count)
		return;
	area = swap_area_of(writer->swap, run->first);
	io->offset = swap_entry_slot(run->first) << PORT_PAGE_SHIFT;
	io->bytes = (uint64_t)io->count << PORT_PAGE_SHIFT;
	for (unsigned i = 0; i < io->count; i++)
		io->page[i] = page_address(writer->swap->frames, run->page[i]);
	swap_count(area, SWAP_WRITES, 1);
	run->started = true;
	lock_rank_may_sleep();
	run->error = page_io_start(area->backing, &run->io, run->page[0], true);
	writer->next = (writer->next + 1) % SWAP_WRITER_RUNS;
}

static void end_page(struct swap_writer *writer, struct swap_area *area, struct page *page, int error)
{
	if (error) {
		writer->failed++;
		writer->error = error;
		if (error == -EIO)
			atomic_fetch_or_explicit(swap_word(area, page_swap_entry(page)), SLOT_BAD,
						 memory_order_relaxed);
	} else {
		writer->written++;
		swap_count(area, SWAP_WRITTEN, 1);
	}
	page_end_flag(page, PG_writeback, error ? PG_dirty : 0);
	page_put(writer->swap->frames, page);
}

static int write_alone(struct swap_area *area, struct swap_run *run, struct page *page)
{
	struct sf_io *io = &run->io.io;
	int error;

	io->offset = swap_entry_slot(page_swap_entry(page)) << PORT_PAGE_SHIFT;
	io->bytes = PORT_PAGE_SIZE;
	io->count = 1;
	io->page[0] = page_address(area->swap->frames, page);
	swap_count(area, SWAP_WRITES, 1);
	error = page_io_start(area->backing, &run->io, page, true);
	return error ? error : page_io_wait(&run->io);
}

static void finish(struct swap_writer *writer, struct swap_run *run)
{
	unsigned count = run->io.io.count;
	struct swap_area *area;
	int error;

	if (!run->started)
		return;
	area = swap_area_of(writer->swap, run->first);
	error = run->error ? run->error : page_io_wait(&run->io);
	for (unsigned i = 0; i < count; i++)
		end_page(writer, area, run->page[i],
			 error && count > 1 ? write_alone(area, run, run->page[i]) : error);
	run->started = false;
	run->io.io.count = 0;
}

int swap_writer_add(struct swap_writer *writer, struct page *page)
{
	struct swap_entry entry = page_swap_entry(page);
	struct swap_area *area = swap_area_of(writer->swap, entry);
	struct swap_run *run = &writer->run[writer->next];
	struct sf_io *io = &run->io.io;

	invariant(page_has_flag(page, PG_locked) && page_has_flag(page, PG_swapcache) &&
		  page_has_flag(page, PG_dirty));
	if (atomic_load_explicit(swap_word(area, entry), memory_order_relaxed) & SLOT_BAD)
		return -EIO;
	if (io->count && run->first.value + io->count != entry.value) {
		start(writer, run);
		run = &writer->run[writer->next];
		io = &run->io.io;
	}
	/* It may be on its way since the last round. */
	finish(writer, run);
	if (!io->count)
		run->first = entry;
	page_get(page);
	page_set_flag(page, PG_writeback);
	page_clear_flag(page, PG_dirty);
	run->page[io->count++] = page;
	if (io->count == writer->run_pages)
		start(writer, run);
	return 0;
}

int swap_writer_finish(struct swap_writer *writer)
{
	start(writer, &writer->run[writer->next]);
	for (unsigned i = 0; i < SWAP_WRITER_RUNS; i++)
		finish(writer, &writer->run[(writer->next + i) % SWAP_WRITER_RUNS]);
	return writer->error;
}
