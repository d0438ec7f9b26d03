/* SPDX-License-Identifier: MIT */
/*
 * Files: how a page is read. One thread puts a locked page into the index and reads it; whoever wants it
 * meanwhile sleeps until it is unlocked, and starts over. A page that could not be read leaves the index
 * before it is unlocked: so the next one who wants it tries again, and nobody ever maps it.
 */
#include "mm/object/file.h"

#include <errno.h>
#include <string.h>

#include "mm/object/page_wait.h"
#include "port/memory.h"
#include "port/page.h"
#include "sync/rcu.h"

static struct sf_object *cache_of(struct object *base)
{
	return container_of(base, struct sf_object, object);
}

static int get_page(struct object *base, uint64_t index, struct charge *charge, struct page **page)
{
	struct sf_object *object = cache_of(base);

	(void)charge;
	if (index >= cache_pages(object))
		return -EFAULT;
	*page = page_index_find(&object->index, index);
	if (!*page)
		return -EINPROGRESS;
	if (!page_is_uptodate(*page) || page_has_flag(*page, PG_removed))
		return -EINPROGRESS;
	page_get(*page);
	return 0;
}

void sf_io_done(struct sf_io *io, int error)
{
	struct file_io *file_io = container_of(io, struct file_io, io);

	file_io->error = error;
	atomic_store_explicit(&file_io->done, 1, memory_order_release);
	port_wake(&file_io->done, 1);
}

int file_transfer_wait(struct file_io *io)
{
	while (!atomic_load_explicit(&io->done, memory_order_acquire)) {
		lock_rank_may_sleep();
		port_wait(&io->done, 0);
	}
	return io->error;
}

int file_transfer_start(struct file_object *file, struct file_io *io, bool write)
{
	struct sf_backing *backing = file->backing;

	atomic_store_explicit(&io->done, 0, memory_order_relaxed);
	return write ? backing->ops->write(backing, &io->io) : backing->ops->read(backing, &io->io);
}

/* Reads what the file has of the page; the rest is zeroes. */
static int read_contents(struct file_object *file, struct page *page, uint64_t index)
{
	struct frames *frames = file->cache.objects->frames;
	uint64_t bytes = atomic_load_explicit(&file->cache.bytes, memory_order_seq_cst);
	uint64_t offset = index << PORT_PAGE_SHIFT;
	struct file_io io = {.io = {.offset = offset, .count = 1, .page = {page_address(frames, page)}}};
	int error;

	/* The object has just been cut: the page is on its way out. */
	if (offset >= bytes) {
		memset(io.io.page[0], 0, PORT_PAGE_SIZE);
		return 0;
	}
	io.io.bytes = bytes - offset < PORT_PAGE_SIZE ? bytes - offset : PORT_PAGE_SIZE;
	error = file_transfer_start(file, &io, false);
	if (!error)
		error = file_transfer_wait(&io);
	if (!error)
		memset((char *)io.io.page[0] + io.io.bytes, 0, PORT_PAGE_SIZE - io.io.bytes);
	return error;
}

/*
 * Makes a locked page and puts it into the index; with `beyond` also beyond the size. Returns 0 with it and a
 * reference in *page; 0 with NULL when there is one by now, or the object ends before; -ENOMEM.
 */
static int add_locked(struct file_object *file, uint64_t index, bool beyond, struct charge *charge,
		      struct page **page)
{
	struct sf_object *object = &file->cache;
	struct frames *frames = object->objects->frames;
	struct page *fresh, *found;
	int error = -ENOMEM;

	*page = NULL;
	port_rcu_read_lock();
	charge_begin(charge);
	fresh = cache_alloc_page(object, index, charge);
	if (fresh)
		error = beyond || index < cache_pages(object) ? cache_add_page(object, fresh, index, &found)
							      : -EEXIST;
	if (error) {
		if (fresh)
			page_put(frames, fresh);
	} else if (!beyond && index >= cache_pages(object)) {
		cache_drop_page(object, fresh, index);
		error = -EEXIST;
	} else {
		page_get(fresh);
		*page = fresh;
	}
	port_rcu_read_unlock();
	return error == -EEXIST ? 0 : error;
}

/* Makes sure that the page is in the index and PG_uptodate, or was so a moment ago. */
static int read_in(struct file_object *file, uint64_t index, struct charge *charge)
{
	struct page *page;
	int error = add_locked(file, index, false, charge, &page);

	if (error || !page)
		return error;
	error = read_contents(file, page, index);
	if (error)
		cache_drop_page(&file->cache, page, index);
	else
		/* Release: the contents come before the flag. */
		page_end_flag(page, PG_locked, PG_uptodate);
	page_put(file->cache.objects->frames, page);
	return error;
}

static int wait_page(struct object *base, uint64_t index, struct charge *charge)
{
	struct sf_object *object = cache_of(base);
	struct page *page = cache_find_get(object, index);

	if (!page)
		return read_in(file_of(object), index, charge);
	if (!page_has_flag(page, PG_uptodate) || page_has_flag(page, PG_removed))
		page_wait_flag(page, PG_locked);
	page_put(object->objects->frames, page);
	return 0;
}

static int read_page(struct sf_object *object, uint64_t index, struct page **page)
{
	struct charge charge = cache_offset_charge(object);

	for (;;) {
		int error;

		port_rcu_read_lock();
		error = get_page(&object->object, index, &charge, page);
		port_rcu_read_unlock();
		if (error != -EINPROGRESS)
			return error;
		error = wait_page(&object->object, index, &charge);
		if (error)
			return error;
	}
}

/*
 * A page that is overwritten as a whole, or has nothing in the backing, need not be read: it is made of
 * zeroes, so that what is not written over is right even if the writer fails later.
 */
static int make_page(struct file_object *file, uint64_t index, struct charge *charge)
{
	struct frames *frames = file->cache.objects->frames;
	struct page *page;
	int error = add_locked(file, index, true, charge, &page);

	if (error || !page)
		return error;
	port_page_clear(page_address(frames, page), frames->structure_only);
	page_end_flag(page, PG_locked, PG_uptodate);
	page_put(frames, page);
	return 0;
}

/* The lock is held: nothing is taken away, and the size stays. */
static int write_page(struct sf_object *object, uint64_t index, size_t from, size_t bytes, struct page **page)
{
	bool whole = from == 0 && bytes == PORT_PAGE_SIZE, beyond = index >= cache_pages(object);
	struct charge charge = cache_offset_charge(object);
	int error;

	do {
		*page = cache_find_get(object, index);
		if (*page && page_is_uptodate(*page))
			return 0;
		if (*page) {
			page_wait_flag(*page, PG_locked);
			page_put(object->objects->frames, *page);
			error = 0;
		} else {
			error = whole || beyond ? make_page(file_of(object), index, &charge)
						: read_in(file_of(object), index, &charge);
		}
	} while (!error);
	return error;
}

int file_resize_backing(struct file_object *file, uint64_t bytes)
{
	struct sf_backing *backing = file->backing;
	int error = backing->ops->resize ? backing->ops->resize(backing, bytes) : -EOPNOTSUPP;

	if (!error)
		atomic_store_explicit(&file->backing_bytes, bytes, memory_order_relaxed);
	return error;
}

void file_set_error(struct file_object *file, int error)
{
	atomic_store_explicit(&file->write_error, -error, memory_order_release);
}

int file_take_error(struct file_object *file)
{
	/* Who finds none writes nothing. */
	if (!atomic_load_explicit(&file->write_error, memory_order_relaxed))
		return 0;
	return -atomic_exchange_explicit(&file->write_error, 0, memory_order_acq_rel);
}

/* Nothing maps the object and nobody has a handle: what is dirty is written now, or lost. */
static void destroy(struct object *base)
{
	struct file_object *file = file_of(cache_of(base));

	file_write_back(file, 0, PAGE_INDEX_END, NULL);
	cache_destroy(base);
}

static void release(struct sf_object *object)
{
	struct file_object *file = file_of(object);

	file->backing->ops->release(file->backing);
	port_memory_free(file, sizeof(*file));
}

static void uncount(struct sf_object *object, uint64_t pages)
{
	(void)object;
	(void)pages;
}

static uint64_t limit(const struct sf_object *object)
{
	(void)object;
	return 0;
}

static int check(const struct sf_object *object, uint64_t pages, struct message *why)
{
	(void)object;
	(void)pages;
	(void)why;
	return 0;
}

static const struct object_ops file_object_ops = {
    .get_page = get_page,
    .wait_page = wait_page,
    .has_page = cache_has_page,
    .destroy = destroy,
};

static const struct cache_ops file_cache_ops = {
    .read_page = read_page,
    .write_page = write_page,
    .uncount = uncount,
    .release = release,
    .limit = limit,
    .check = check,
};

int file_create(struct objects *objects, struct sf_backing *backing, struct sf_object **object)
{
	struct file_object *file;

	if (backing->bytes > SF_OBJECT_BYTES_MAX || objects->frames->structure_only)
		return -EINVAL;
	file = port_memory_alloc(sizeof(*file), PORT_NODE_FIRST_TOUCH, "struct file_object");
	if (!file)
		return -ENOMEM;
	file->cache.object.ops = &file_object_ops;
	file->cache.ops = &file_cache_ops;
	file->cache.file = true;
	file->backing = backing;
	atomic_init(&file->backing_bytes, backing->bytes);
	cache_init(&file->cache, objects, backing->bytes, false);
	cache_publish(&file->cache);
	*object = &file->cache;
	return 0;
}
