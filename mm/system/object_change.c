/* SPDX-License-Identifier: MIT */
/*
 * Taking pages of an object away: truncation and hole punching.
 */
#include <errno.h>
#include <string.h>

#include "mm/object/file.h"
#include "mm/page/page_wait.h"
#include "mm/system/object.h"
#include "port/page.h"

/* The first page that begins at `offset` or later. */
static uint64_t page_up(uint64_t offset)
{
	return (offset >> PORT_PAGE_SHIFT) + (offset % PORT_PAGE_SIZE != 0);
}

/*
 * Zeroes bytes of one page, if it is in memory; nothing else has any of them. A page that is being read is
 * waited for: it could be given old bytes.
 */
static void zero_cached(struct sf_object *object, uint64_t index, size_t from, size_t bytes)
{
	struct frames *frames = object->objects->frames;
	struct page *page = cache_find_get(object, index);

	if (!page)
		return;
	if (object->file) {
		page_lock(page);
		page_unlock(page);
	}
	if (page_is_uptodate(page) && !frames->structure_only)
		memset((char *)page_address(frames, page) + from, 0, bytes);
	page_put(frames, page);
}

/* Takes all pages of [first, end) away, from spaces and from the object. The lock is held for writing. */
static void drop_pages(struct sf_object *object, uint64_t first, uint64_t end, bool keep_copies)
{
	if (first >= end)
		return;
	cache_mark_range(object, first, end);
	object_unmap(object, first, end, keep_copies);
	cache_take_out_range(object, first, end);
}

static void set_size(struct sf_object *object, uint64_t bytes)
{
	/* Before the pages are looked at: who puts one into the index looks at the size afterwards. */
	atomic_store_explicit(&object->bytes, bytes, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
}

/* What a file has in its last page beyond its size was written there through mappings, and is not the file's.
 */
void object_zero_tail(struct sf_object *object, uint64_t bytes)
{
	size_t from = bytes % PORT_PAGE_SIZE;

	if (from)
		zero_cached(object, bytes >> PORT_PAGE_SHIFT, from, PORT_PAGE_SIZE - from);
}

static int resize_backing(struct sf_object *object, uint64_t bytes)
{
	return object->file ? file_resize_backing(file_of(object), bytes) : 0;
}

/* The backing first: if it cannot, nothing has changed. What it reads from then on are zeroes. */
static int cut_size(struct sf_object *object, uint64_t bytes)
{
	int error;

	if (object->file)
		file_cut_begin(file_of(object), bytes);
	error = resize_backing(object, bytes);
	if (!error)
		set_size(object, bytes);
	if (object->file)
		file_cut_end(file_of(object));
	return error;
}

/*
 * Before bytes of one page become zeroes: shared memory that is in swap comes back, and stays while the lock
 * is held for writing.
 */
static int swap_in_partial(struct sf_object *object, uint64_t index)
{
	struct page *page;
	int error = object->ops->read_page(object, index, &page);

	if (!error && page)
		page_put(object->objects->frames, page);
	return error;
}

static int shrink_locked(struct sf_object *object, uint64_t bytes)
{
	int error = 0;

	if (!object->file && bytes % PORT_PAGE_SIZE)
		error = swap_in_partial(object, bytes >> PORT_PAGE_SHIFT);
	if (!error)
		error = cut_size(object, bytes);
	if (error)
		return error;
	drop_pages(object, page_up(bytes), PAGE_INDEX_END, false);
	object_zero_tail(object, bytes);
	return 0;
}

static int grow_locked(struct sf_object *object, uint64_t bytes)
{
	int error = resize_backing(object, bytes);

	if (error)
		return error;
	if (object->file)
		object_zero_tail(object, atomic_load_explicit(&object->bytes, memory_order_seq_cst));
	set_size(object, bytes);
	return 0;
}

static int resize_locked(struct sf_object *object, uint64_t bytes)
{
	uint64_t old = atomic_load_explicit(&object->bytes, memory_order_seq_cst);

	if (bytes == old)
		return 0;
	return bytes < old ? shrink_locked(object, bytes) : grow_locked(object, bytes);
}

/* Nothing has changed after -ENOMEM: then pages are reclaimed, without the lock, and all begins again. */
static bool make_room(struct sf_object *object, int error, unsigned *fruitless)
{
	return error == -ENOMEM && charge_make_room(object->objects->frames->groups, NULL, NULL, fruitless);
}

int object_resize(struct sf_object *object, uint64_t bytes)
{
	unsigned fruitless = 0;
	int error;

	do {
		down_write(&object->lock);
		error = resize_locked(object, bytes);
		up_write(&object->lock);
	} while (make_room(object, error, &fruitless));
	return error;
}

/* The bytes of a hole that are less than a page at either end: [from, from + bytes) of page `index`. */
struct partial {
	uint64_t index;
	size_t from, bytes;
	struct page *page; /* of a file that reaches so far, with a reference */
};

struct hole {
	uint64_t first, end; /* whole pages */
	struct partial partial[2];
	unsigned partials;
};

static void add_partial(struct hole *hole, uint64_t start, uint64_t end)
{
	if (start < end)
		hole->partial[hole->partials++] = (struct partial){
		    .index = start >> PORT_PAGE_SHIFT,
		    .from = start % PORT_PAGE_SIZE,
		    .bytes = end - start,
		};
}

static void describe_hole(struct hole *hole, uint64_t offset, uint64_t end)
{
	uint64_t up = page_up(offset) << PORT_PAGE_SHIFT, down = end - end % PORT_PAGE_SIZE;

	*hole = (struct hole){.first = up >> PORT_PAGE_SHIFT, .end = down >> PORT_PAGE_SHIFT};
	if (down < offset) {
		add_partial(hole, offset, end);
		return;
	}
	add_partial(hole, offset, up);
	add_partial(hole, down, end);
}

static void put_partials(struct sf_object *object, struct hole *hole)
{
	for (unsigned i = 0; i < hole->partials; i++)
		if (hole->partial[i].page)
			page_put(object->objects->frames, hole->partial[i].page);
}

static int prepare_partial(struct sf_object *object, struct partial *partial)
{
	if (partial->index >= cache_pages(object))
		return 0;
	if (!object->file)
		return swap_in_partial(object, partial->index);
	return object->ops->write_page(object, partial->index, partial->from, partial->bytes, &partial->page);
}

/* What can fail: a file's partial pages are written as zeroes, so they must be in memory. */
static int prepare_hole(struct sf_object *object, struct hole *hole)
{
	struct sf_backing *backing;
	int error = 0;

	for (unsigned i = 0; i < hole->partials && !error; i++)
		error = prepare_partial(object, &hole->partial[i]);
	if (!object->file)
		return error;
	backing = file_of(object)->backing;
	if (!error && hole->first < hole->end)
		error = backing->ops->punch
			    ? backing->ops->punch(backing, hole->first << PORT_PAGE_SHIFT,
						  (hole->end - hole->first) << PORT_PAGE_SHIFT)
			    : -EOPNOTSUPP;
	return error;
}

static void punch_locked(struct sf_object *object, struct hole *hole)
{
	drop_pages(object, hole->first, hole->end, true);
	for (unsigned i = 0; i < hole->partials; i++) {
		struct partial *partial = &hole->partial[i];

		zero_cached(object, partial->index, partial->from, partial->bytes);
		if (partial->page)
			object_set_dirty(partial->page);
	}
}

int object_punch(struct sf_object *object, uint64_t offset, uint64_t bytes)
{
	unsigned fruitless = 0;
	struct hole hole;
	int error;

	do {
		describe_hole(&hole, offset, offset + bytes);
		down_write(&object->lock);
		error = prepare_hole(object, &hole);
		if (!error)
			punch_locked(object, &hole);
		up_write(&object->lock);
		put_partials(object, &hole);
	} while (make_room(object, error, &fruitless));
	return error;
}

int object_sync(struct sf_object *object, uint64_t offset, uint64_t bytes)
{
	struct file_object *file;
	int error = 0, written;

	if (!object->file)
		return 0;
	file = file_of(object);
	down_read(&object->lock);
	file_write_back(file, offset >> PORT_PAGE_SHIFT, page_up(offset + bytes));
	if (file->backing->ops->sync)
		error = file->backing->ops->sync(file->backing);
	up_read(&object->lock);
	written = file_take_error(file);
	return written ? written : error;
}
