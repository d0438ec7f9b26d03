/* SPDX-License-Identifier: MIT */
/*
 * Which pages are written back, and when: all of a range, by who waits for it; some, in the background; the
 * surroundings of one, by who needs its frame.
 */
#include "mm/object/write_back.h"

#include "mm/object/evict.h"
#include "mm/object/write_back_run.h"
#include "mm/page/page_wait.h"
#include "sync/rcu.h"

void object_set_dirty(struct page *page)
{
	struct sf_object *object = page->object;

	if (!page_has_flag(page, PG_file) ||
	    (atomic_fetch_or_explicit(&page->flags, PG_dirty, memory_order_seq_cst) & PG_dirty))
		return;
	port_rcu_read_lock();
	page_index_mark_dirty(&object->index, page->index);
	port_rcu_read_unlock();
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
		write_back_note_bytes(file, bytes);
}

/*
 * All pages are looked at, marked or not: a write of another thread can have found the page dirty whose mark
 * is yet to come, and has to be in the file when this returns.
 */
void file_write_back(struct file_object *file, uint64_t first, uint64_t end)
{
	struct sf_object *object = &file->cache;
	struct frames *frames = object->objects->frames;
	struct write_back work = {.file = file, .waits = true};
	uint64_t pages = cache_pages(object);
	struct page *page;

	if (end > pages)
		end = pages;
	if (object->objects->dirty_by_pte && first < end)
		object->objects->protect(object, first, end, true);
	while ((page = cache_next_get(object, &first, end))) {
		if (page_has_flag(page, PG_dirty)) {
			first = write_back_pages(&work, page, first, end);
		} else {
			/* What another caller writes is waited for, too. */
			page_wait_flag(page, PG_writeback);
			page_put(frames, page);
			first++;
		}
	}
	write_back_finish(&work);
	grow_backing(file);
}

/* Writes dirty pages of [at, end) until `pages` are started. Returns where it stopped, `end` if there are no
 * more. */
static uint64_t write_range(struct write_back *work, uint64_t at, uint64_t end, uint64_t pages)
{
	struct sf_object *object = &work->file->cache;

	while (work->started < pages) {
		struct page *page = NULL;
		bool found;

		port_rcu_read_lock();
		found = page_index_take_dirty(&object->index, &at, end);
		if (found)
			page = page_index_find(&object->index, at);
		if (page)
			page_get(page);
		port_rcu_read_unlock();
		if (!found)
			return end;
		if (page)
			at = write_back_pages(work, page, at, end);
		else
			at++;
	}
	return at;
}

/* Writes up to `pages` of a file from where the last call stopped, once around. Its lock is held. */
static uint64_t write_some(struct file_object *file, uint64_t pages)
{
	struct write_back work = {.file = file};
	uint64_t end = cache_pages(&file->cache), from = file->write_back_at < end ? file->write_back_at : 0,
		 at;

	at = write_range(&work, from, end, pages);
	if (at == end && work.started < pages)
		at = write_range(&work, 0, from, pages);
	write_back_finish(&work);
	file->write_back_at = at;
	return work.written;
}

/* The file after `last` with a reference, or, with NULL, the first one whose number is below; NULL: none. */
static struct sf_object *next_file(struct objects *objects, struct sf_object *last, uint64_t number)
{
	struct sf_object *object;

	spin_lock(&objects->list_lock);
	for (object = last ? last->next : objects->list; object; object = object->next)
		if (object->file && object->number < number &&
		    refcount_inc_not_zero(&object->object.references))
			break;
	spin_unlock(&objects->list_lock);
	return object;
}

/* Goes over the files whose numbers are below `number` and at least `least`. */
static uint64_t write_files(struct objects *objects, uint64_t number, uint64_t least, uint64_t pages)
{
	struct sf_object *object = next_file(objects, NULL, number), *next;
	uint64_t written = 0;

	while (object) {
		if (written < pages && object->number >= least) {
			if (down_read_trylock(&object->lock)) {
				written += write_some(file_of(object), pages - written);
				up_read(&object->lock);
			}
			objects->write_back_number = object->number;
			next = next_file(objects, object, number);
		} else {
			next = NULL;
		}
		object_put(&object->object);
		object = next;
	}
	return written;
}

/* From the file after the one where the last call stopped, once around. */
uint64_t objects_write_back(struct objects *objects, uint64_t pages)
{
	uint64_t from, written;

	if (atomic_load_explicit(&objects->writing_back, memory_order_relaxed) ||
	    atomic_exchange_explicit(&objects->writing_back, true, memory_order_acquire))
		return 0;
	from = objects->write_back_number;
	written = write_files(objects, from, 0, pages);
	if (written < pages)
		written += write_files(objects, UINT64_MAX, from, pages - written);
	atomic_store_explicit(&objects->writing_back, false, memory_order_release);
	return written;
}

/* The first page of the dirty ones before `index` in a transfer that has it. */
static uint64_t run_start(struct sf_object *object, uint64_t index)
{
	uint64_t first = index - index % object->objects->write_back_pages;

	port_rcu_read_lock();
	while (index > first) {
		struct page *page = page_index_find(&object->index, index - 1);

		if (!page || !page_has_flag(page, PG_dirty))
			break;
		index--;
	}
	port_rcu_read_unlock();
	return index;
}

static unsigned write_around(struct sf_object *object, uint64_t index)
{
	struct write_back work = {.file = file_of(object)};
	uint64_t start = run_start(object, index), bulk = object->objects->write_back_pages;
	struct page *page = cache_find_get(object, start);

	if (!page)
		return 0;
	write_back_pages(&work, page, start, index - index % bulk + bulk);
	write_back_finish(&work);
	if (work.started == 1)
		objects_count(object->objects, OBJECTS_SINGLE_WRITES, 1);
	return (unsigned)work.written;
}

/* The object of a page of a file, its lock held for reading, with a reference; or NULL. In a read section. */
static struct sf_object *hold_object(struct page *page, uint64_t *index)
{
	struct sf_object *object;

	if (!page_has_flag(page, PG_file) || page_has_flag(page, PG_removed))
		return NULL;
	object = page->object;
	*index = page->index;
	if (!down_read_trylock(&object->lock))
		return NULL;
	if (refcount_inc_not_zero(&object->object.references))
		return object;
	up_read(&object->lock);
	return NULL;
}

unsigned object_write_around(struct page *page)
{
	struct sf_object *object;
	unsigned written = 0;
	uint64_t index = 0;

	if (!page_try_flag(page, PG_locked))
		return 0;
	port_rcu_read_lock();
	object = hold_object(page, &index);
	port_rcu_read_unlock();
	page_unlock(page);
	if (!object)
		return 0;
	if (index < cache_pages(object))
		written = write_around(object, index);
	up_read(&object->lock);
	object_put(&object->object);
	return written;
}

void objects_write_back_statistics(struct objects *objects, struct write_back_statistics *statistics)
{
	uint64_t sum[OBJECTS_COUNTERS] = {0};

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct objects_cpu *own = percpu_of(&objects->cpu, cpu);

		for (unsigned i = 0; i < OBJECTS_COUNTERS; i++)
			sum[i] += atomic_load_explicit(&own->count[i], memory_order_relaxed);
	}
	statistics->calls = sum[OBJECTS_WRITE_BACKS];
	statistics->written = sum[OBJECTS_WRITTEN];
	statistics->single = sum[OBJECTS_SINGLE_WRITES];
}
