/* SPDX-License-Identifier: MIT */
/*
 * A page is clean from the moment at which its flag is cleared; after that every mapping loses its right to
 * write, and then the page is written. A write fault sets the flag while it has the entry locked, when it
 * gives the right: docs/LOCKING.md, "A write fault and a write-back".
 *
 * With dirty_tracking=pte mappings keep their right. What is written through one makes its entry dirty, and
 * the page later: who waits for all that was written collects the dirty bits before (file_write_back()). Here
 * they are cleared once more, and flushed: whoever took one before may not have.
 */
#include "mm/object/write_back_run.h"

#include "mm/page/page_wait.h"
#include "port/page.h"
#include "sync/rcu.h"

void write_back_note_bytes(struct file_object *file, uint64_t bytes)
{
	uint64_t known = atomic_load_explicit(&file->backing_bytes, memory_order_relaxed);

	while (known < bytes &&
	       !atomic_compare_exchange_weak_explicit(&file->backing_bytes, &known, bytes,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* A page's failure is the object's to tell and the next call's to mend. */
static void finish(struct write_back *work, struct write_back_run *run)
{
	struct objects *objects = work->file->cache.objects;
	unsigned count = run->io.io.count;
	int error = run->error;

	if (!run->started)
		return;
	if (!error)
		error = page_io_wait(&run->io);
	/* Who waits for one of the pages, to sync the file, finds the error. */
	if (error)
		file_set_error(work->file, error);
	for (unsigned i = 0; i < count; i++) {
		if (error)
			object_set_dirty(run->page[i]);
		page_end_flag(run->page[i], PG_writeback, 0);
		page_put(objects->frames, run->page[i]);
	}
	if (!error) {
		write_back_note_bytes(work->file, run->io.io.offset + run->io.io.bytes);
		work->written += count;
		objects_count(objects, OBJECTS_WRITTEN, count);
	}
	run->started = false;
}

/* Before PG_dirty is cleared: who makes the page dirty after that marks it again. */
static void take_mark(struct sf_object *object, uint64_t index)
{
	port_rcu_read_lock();
	page_index_take_dirty(&object->index, &index, index + 1);
	port_rcu_read_unlock();
}

/*
 * Makes a page that is dirty one of the run: clean, and being written. Takes over the caller's reference if
 * it does. A page that is being written already, by another caller, may be older there.
 */
static bool take_page(struct write_back *work, struct write_back_run *run, struct page *page, uint64_t index)
{
	struct sf_object *object = &work->file->cache;

	if (!page_has_flag(page, PG_dirty)) {
		/* Who saw it dirty a moment ago waits for whoever writes it now. */
		if (work->waits)
			page_wait_flag(page, PG_writeback);
		return false;
	}
	while (!page_try_flag(page, PG_writeback)) {
		if (!work->waits) {
			port_rcu_read_lock();
			page_index_mark_dirty(&object->index, index);
			port_rcu_read_unlock();
			return false;
		}
		page_wait_flag(page, PG_writeback);
	}
	take_mark(object, index);
	/* Before the entries are looked at. */
	if (!(atomic_fetch_and_explicit(&page->flags, ~(uint32_t)PG_dirty, memory_order_seq_cst) &
	      PG_dirty)) {
		page_end_flag(page, PG_writeback, 0);
		return false;
	}
	run->page[run->io.io.count++] = page;
	return true;
}

static void start(struct write_back *work, struct write_back_run *run)
{
	struct sf_object *object = &work->file->cache;
	struct objects *objects = object->objects;
	uint64_t bytes = atomic_load_explicit(&object->bytes, memory_order_seq_cst);
	uint64_t offset = run->first << PORT_PAGE_SHIFT;
	struct sf_io *io = &run->io.io;

	atomic_thread_fence(memory_order_seq_cst);
	objects->protect(object, run->first, run->first + io->count, false);
	for (unsigned i = 0; i < io->count; i++)
		io->page[i] = page_address(objects->frames, run->page[i]);
	io->offset = offset;
	io->bytes = (uint64_t)io->count << PORT_PAGE_SHIFT;
	if (bytes - offset < io->bytes)
		io->bytes = bytes - offset;
	objects_count(objects, OBJECTS_WRITE_BACKS, 1);
	work->started += io->count;
	run->started = true;
	run->error = page_io_start(work->file->backing, &run->io, run->page[0], true);
	work->next = (work->next + 1) % WRITE_BACK_RUNS;
}

uint64_t write_back_pages(struct write_back *work, struct page *page, uint64_t index, uint64_t end)
{
	struct sf_object *object = &work->file->cache;
	struct write_back_run *run = &work->run[work->next];

	finish(work, run);
	run->first = index;
	run->io.io.count = 0;
	while (page) {
		if (!take_page(work, run, page, index)) {
			page_put(object->objects->frames, page);
			break;
		}
		index++;
		if (index == end || run->io.io.count == object->objects->write_back_pages)
			break;
		page = cache_find_get(object, index);
	}
	if (run->io.io.count)
		start(work, run);
	else
		index++;
	return index;
}

void write_back_finish(struct write_back *work)
{
	for (unsigned i = 0; i < WRITE_BACK_RUNS; i++)
		finish(work, &work->run[i]);
}
