/* SPDX-License-Identifier: MIT */
/*
 * Writing dirty pages back, in runs of pages that lie next to each other, some runs at once.
 *
 * A page is clean from the moment at which its flag is cleared; after that every mapping loses its right to
 * write, and then the page is written. A write fault sets the flag while it has the entry locked, when it
 * gives the right: docs/LOCKING.md, "A write fault and a write-back".
 */
#include <errno.h>

#include "mm/object/file.h"
#include "mm/page/page_wait.h"
#include "port/page.h"
#include "sync/rcu.h"

#define RUNS 4u

struct run {
	struct page_io io;
	struct page *page[SF_IO_PAGES_MAX];
	uint64_t first;
	int error;
	bool started;
};

struct write_back {
	struct file_object *file;
	file_protect *protect;
	struct run run[RUNS];
	unsigned next; /* the run that is used next */
};

static void note_backing_bytes(struct file_object *file, uint64_t bytes)
{
	uint64_t known = atomic_load_explicit(&file->backing_bytes, memory_order_relaxed);

	while (known < bytes &&
	       !atomic_compare_exchange_weak_explicit(&file->backing_bytes, &known, bytes,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* The file ends where the object does, also when nothing that was written there is left to be written back.
 */
static void grow_backing(struct file_object *file)
{
	uint64_t bytes = atomic_load_explicit(&file->cache.bytes, memory_order_seq_cst);
	struct sf_backing *backing = file->backing;
	int error;

	if (atomic_load_explicit(&file->backing_bytes, memory_order_relaxed) >= bytes ||
	    !backing->ops->resize)
		return;
	error = backing->ops->resize(backing, bytes);
	if (error)
		file_set_error(file, error);
	else
		note_backing_bytes(file, bytes);
}

/* A page's failure is the object's to tell and the next call's to mend. */
static void finish(struct write_back *work, struct run *run)
{
	struct frames *frames = work->file->cache.objects->frames;
	int error = run->error;

	if (!run->started)
		return;
	if (!error)
		error = page_io_wait(&run->io);
	for (unsigned i = 0; i < run->io.io.count; i++) {
		page_end_flag(run->page[i], PG_writeback, error ? PG_dirty : 0);
		page_put(frames, run->page[i]);
	}
	if (error)
		file_set_error(work->file, error);
	else
		note_backing_bytes(work->file, run->io.io.offset + run->io.io.bytes);
	run->started = false;
}

/*
 * Makes a page that is dirty one of the run: clean, and being written. Takes over the caller's reference if
 * it does. A page that is being written already, by another caller, is waited for: its contents may be older.
 */
static bool take_page(struct run *run, struct page *page)
{
	if (!page_has_flag(page, PG_dirty))
		return false;
	while (!page_try_flag(page, PG_writeback))
		page_wait_flag(page, PG_writeback);
	/* Before the entries are looked at. */
	if (!(atomic_fetch_and_explicit(&page->flags, ~(uint32_t)PG_dirty, memory_order_seq_cst) &
	      PG_dirty)) {
		page_end_flag(page, PG_writeback, 0);
		return false;
	}
	run->page[run->io.io.count++] = page;
	return true;
}

static void start(struct write_back *work, struct run *run)
{
	struct sf_object *object = &work->file->cache;
	struct frames *frames = object->objects->frames;
	uint64_t bytes = atomic_load_explicit(&object->bytes, memory_order_seq_cst);
	uint64_t offset = run->first << PORT_PAGE_SHIFT;
	struct sf_io *io = &run->io.io;

	atomic_thread_fence(memory_order_seq_cst);
	if (work->protect)
		work->protect(object, run->first, run->first + io->count);
	for (unsigned i = 0; i < io->count; i++)
		io->page[i] = page_address(frames, run->page[i]);
	io->offset = offset;
	io->bytes = (uint64_t)io->count << PORT_PAGE_SHIFT;
	if (bytes - offset < io->bytes)
		io->bytes = bytes - offset;
	run->started = true;
	run->error = page_io_start(work->file->backing, &run->io, run->page[0], true);
	work->next = (work->next + 1) % RUNS;
}

/* Takes the run of dirty pages that begins at `index` with `page`. Returns where it ends. */
static uint64_t write_run(struct write_back *work, struct page *page, uint64_t index, uint64_t end)
{
	struct sf_object *object = &work->file->cache;
	struct frames *frames = object->objects->frames;
	struct run *run = &work->run[work->next];

	finish(work, run);
	run->first = index;
	run->io.io.count = 0;
	while (page) {
		if (!take_page(run, page)) {
			page_put(frames, page);
			break;
		}
		index++;
		if (index == end || run->io.io.count == SF_IO_PAGES_MAX)
			break;
		page = cache_find_get(object, index);
	}
	if (run->io.io.count)
		start(work, run);
	else
		index++;
	return index;
}

void file_write_back(struct file_object *file, uint64_t first, uint64_t end, file_protect *protect)
{
	struct sf_object *object = &file->cache;
	struct frames *frames = object->objects->frames;
	struct write_back work = {.file = file, .protect = protect};
	uint64_t pages = cache_pages(object);
	struct page *page;

	if (end > pages)
		end = pages;
	while ((page = cache_next_get(object, &first, end))) {
		if (page_has_flag(page, PG_dirty)) {
			first = write_run(&work, page, first, end);
		} else {
			/* What another caller writes is waited for, too. */
			page_wait_flag(page, PG_writeback);
			page_put(frames, page);
			first++;
		}
	}
	for (unsigned i = 0; i < RUNS; i++)
		finish(&work, &work.run[i]);
	grow_backing(file);
}
