/* SPDX-License-Identifier: MIT */
/*
 * Files: how a page is read. One thread puts a locked page into the index and reads it; whoever wants it
 * meanwhile sleeps until it is unlocked, and starts over. A page that could not be read stays in the index
 * and is not PG_uptodate: nobody maps it, and the next one who wants it locks it and tries again. It does not
 * leave, since its frame would be free a grace period later only, and a touch that fails may be tried without
 * end.
 */
#include "mm/object/file.h"

#include <errno.h>
#include <string.h>

#include "mm/object/waiter.h"
#include "mm/page/page_wait.h"
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

/* Reads what the file has of the page; the rest is zeroes. */
static int read_contents(struct file_object *file, struct page *page, uint64_t index)
{
	struct frames *frames = file->cache.objects->frames;
	uint64_t bytes = atomic_load_explicit(&file->cache.bytes, memory_order_seq_cst);
	uint64_t offset = index << PORT_PAGE_SHIFT;
	struct page_io io = {.io = {.offset = offset, .count = 1, .page = {page_address(frames, page)}}};
	int error;

	/* The object has just been cut: the page is on its way out. */
	if (offset >= bytes) {
		memset(io.io.page[0], 0, PORT_PAGE_SIZE);
		return 0;
	}
	io.io.bytes = bytes - offset < PORT_PAGE_SIZE ? bytes - offset : PORT_PAGE_SIZE;
	error = page_io_start(file->backing, &io, page, false);
	if (!error)
		error = page_io_wait(&io);
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

/* Whether the backing may have lost the page, or its end, before the object has. */
static bool being_cut(struct file_object *file, uint64_t index)
{
	/* Acquire: when the cut is over, the size is seen. */
	return (index + 1) << PORT_PAGE_SHIFT > atomic_load_explicit(&file->cut_bytes, memory_order_acquire);
}

/*
 * Reads a page that the caller has locked, and unlocks it. Returns 0 with it PG_uptodate, what the backing
 * failed with, or -EAGAIN when it was read while the object was cut: not to who holds the object's lock.
 */
static int read_locked(struct file_object *file, struct page *page, uint64_t index)
{
	int error = read_contents(file, page, index);

	if (!error && unlikely(being_cut(file, index)))
		error = -EAGAIN;
	/* Release: the contents come before the flag. */
	page_end_flag(page, PG_locked, error ? 0 : PG_uptodate);
	return error;
}

/* Makes sure that the page is in the index and PG_uptodate, or was so a moment ago. Returns as read_locked().
 */
static int read_in(struct file_object *file, uint64_t index, struct charge *charge)
{
	struct page *page;
	int error = add_locked(file, index, false, charge, &page);

	if (error || !page)
		return error;
	error = read_locked(file, page, index);
	page_put(file->cache.objects->frames, page);
	return error;
}

/* The same for one that was found without its contents; who reads it now is waited for. */
static int read_again(struct file_object *file, struct page *page, uint64_t index)
{
	if (!cache_lock_inside(&file->cache, page, index))
		return 0;
	if (!page_is_uptodate(page))
		return read_locked(file, page, index);
	page_unlock(page);
	return 0;
}

static int wait_page(struct object *base, uint64_t index, struct charge *charge)
{
	struct sf_object *object = cache_of(base);
	struct page *page = cache_find_get(object, index);
	int error = 0;

	if (!page) {
		error = read_in(file_of(object), index, charge);
	} else {
		if (!page_is_uptodate(page))
			error = read_again(file_of(object), page, index);
		else if (page_has_flag(page, PG_removed))
			page_wait_flag(page, PG_locked);
		page_put(object->objects->frames, page);
	}
	if (unlikely(error == -EAGAIN)) {
		down_read(&object->lock);
		up_read(&object->lock);
		error = 0;
	}
	return error;
}

static int read_page(struct sf_object *object, uint64_t index, struct page **page)
{
	struct charge charge = cache_offset_charge(object);

	for (;;) {
		int error;

		port_rcu_read_lock();
		error = get_page(&object->object, index, &charge, page);
		port_rcu_read_unlock();
		if (!error)
			page_mark_accessed(*page);
		if (error != -EINPROGRESS)
			return error;
		error = wait_page(&object->object, index, &charge);
		if (error)
			return error;
	}
}

/*
 * A page that is overwritten as a whole, or has nothing in the backing, need not be read. It stays locked
 * until it is written: in place of what the file has, nobody may see zeroes.
 */
static int make_page(struct file_object *file, uint64_t index, struct charge *charge, struct page **page)
{
	struct frames *frames = file->cache.objects->frames;
	int error = add_locked(file, index, true, charge, page);

	if (!error && *page)
		port_page_clear(page_address(frames, *page), frames->structure_only);
	return error;
}

/* The lock is held: nothing is taken away, and the size stays. */
static int write_page(struct sf_object *object, uint64_t index, size_t from, size_t bytes, struct page **page)
{
	struct file_object *file = file_of(object);
	bool unread = (from == 0 && bytes == PORT_PAGE_SIZE) || index >= cache_pages(object);
	struct charge charge = cache_offset_charge(object);
	int error;

	do {
		*page = cache_find_get(object, index);
		if (*page && page_is_uptodate(*page)) {
			page_mark_accessed(*page);
			return 0;
		}
		if (!*page && unread) {
			error = make_page(file, index, &charge, page);
			if (*page)
				return 0;
		} else if (!*page) {
			error = read_in(file, index, &charge);
		} else if (unread) {
			page_lock(*page);
			if (!page_is_uptodate(*page))
				return 0;
			page_unlock(*page);
			return 0;
		} else {
			error = read_again(file, *page, index);
			page_put(object->objects->frames, *page);
			*page = NULL;
		}
	} while (!error);
	return error;
}

void file_cut_begin(struct file_object *file, uint64_t bytes)
{
	/* Release: who has read what the backing has then sees this. */
	atomic_store_explicit(&file->cut_bytes, bytes, memory_order_release);
}

void file_cut_end(struct file_object *file)
{
	atomic_store_explicit(&file->cut_bytes, UINT64_MAX, memory_order_release);
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

	if (object_wait_hand_over(&file->cache))
		return;
	file_write_back(file, 0, PAGE_INDEX_END);
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
	atomic_init(&file->cut_bytes, UINT64_MAX);
	cache_init(&file->cache, objects, backing->bytes, false);
	cache_publish(&file->cache);
	*object = &file->cache;
	return 0;
}
