/* SPDX-License-Identifier: MIT */
/*
 * The entry points that are about objects.
 */
#include "mm/system/object.h"

#include <errno.h>
#include <string.h>

#include "mm/object/file.h"
#include "mm/page/page_wait.h"
#include "mm/object/shmem.h"
#include "mm/system/internal.h"
#include "port/page.h"
#include "sync/rcu.h"

/* Makes the reference of a new object its maker's handle. */
static void add_handle(struct sf_object *object)
{
	atomic_fetch_add_explicit(&object->handles, 1, memory_order_relaxed);
}

int sf_object_create(struct sf_system *system, uint64_t bytes, uint64_t limit_bytes,
		     struct sf_object **object)
{
	int error;

	if (bytes > SF_OBJECT_BYTES_MAX || limit_bytes > SF_OBJECT_BYTES_MAX)
		return -EINVAL;
	system_enter(system);
	port_rcu_poll();
	error = shmem_create(system->parts.objects, bytes, limit_bytes, object);
	if (!error)
		add_handle(*object);
	system_exit(system);
	return error;
}

int sf_file_open(struct sf_system *system, struct sf_backing *backing, struct sf_object **object)
{
	int error;

	system_enter(system);
	port_rcu_poll();
	error = file_create(system->parts.objects, backing, object);
	if (!error)
		add_handle(*object);
	system_exit(system);
	return error;
}

static struct sf_system *enter_object_call(struct sf_object *object)
{
	struct sf_system *system = object->objects->system;

	system_enter(system);
	port_rcu_poll();
	return system;
}

void sf_object_close(struct sf_object *object)
{
	struct sf_system *system;

	if (!object)
		return;
	system = enter_object_call(object);
	atomic_fetch_sub_explicit(&object->handles, 1, memory_order_relaxed);
	object_put(&object->object);
	system_exit_call(system);
}

int sf_object_resize(struct sf_object *object, uint64_t bytes)
{
	struct sf_system *system = enter_object_call(object);
	int error = bytes > SF_OBJECT_BYTES_MAX ? -EINVAL : object_resize(object, bytes);

	system_exit_call(system);
	return error;
}

int sf_object_punch(struct sf_object *object, uint64_t offset, uint64_t bytes)
{
	struct sf_system *system = enter_object_call(object);
	int error;

	if (!bytes || offset > SF_OBJECT_BYTES_MAX || bytes > SF_OBJECT_BYTES_MAX)
		error = -EINVAL;
	else if (bytes > SF_OBJECT_BYTES_MAX - offset)
		error = -EFBIG;
	else
		error = object_punch(object, offset, bytes);
	system_exit_call(system);
	return error;
}

int sf_object_sync(struct sf_object *object)
{
	struct sf_system *system = enter_object_call(object);
	int error = object_sync(object, 0, SF_OBJECT_BYTES_MAX);

	system_exit_call(system);
	return error;
}

/* How much of [offset, offset + bytes) lies in the page of `offset`. */
static size_t in_page(uint64_t offset, uint64_t bytes)
{
	size_t room = PORT_PAGE_SIZE - offset % PORT_PAGE_SIZE;

	return bytes < room ? bytes : room;
}

static int read_part(struct sf_object *object, uint64_t offset, char *buffer, size_t bytes)
{
	struct frames *frames = object->objects->frames;
	struct page *page;
	int error = object->ops->read_page(object, offset >> PORT_PAGE_SHIFT, &page);

	if (error)
		return error;
	if (page) {
		memcpy(buffer, (char *)page_address(frames, page) + offset % PORT_PAGE_SIZE, bytes);
		page_put(frames, page);
	} else {
		memset(buffer, 0, bytes);
	}
	return 0;
}

int64_t sf_object_read(struct sf_object *object, uint64_t offset, void *buffer, uint64_t bytes)
{
	struct sf_system *system = enter_object_call(object);
	unsigned fruitless = 0;
	uint64_t done = 0;
	int error = offset > SF_OBJECT_BYTES_MAX || bytes > SF_OBJECT_BYTES_MAX ? -EINVAL : 0;

	system_forget_refusal(system);
	while (done < bytes && !error) {
		uint64_t at = offset + done;
		uint64_t size = atomic_load_explicit(&object->bytes, memory_order_seq_cst);
		size_t part;

		if (at >= size)
			break;
		part = in_page(at, bytes - done < size - at ? bytes - done : size - at);
		error = read_part(object, at, (char *)buffer + done, part);
		if (error == -ENOMEM && system_make_room(system, NULL, &fruitless)) {
			error = 0;
			continue;
		}
		/* The object has been cut since. */
		if (error == -EFAULT) {
			error = 0;
			break;
		}
		if (!error)
			done += part;
	}
	system_exit_call(system);
	return done ? (int64_t)done : error;
}

static int write_part(struct sf_object *object, uint64_t offset, const char *buffer, size_t bytes)
{
	struct frames *frames = object->objects->frames;
	size_t from = offset % PORT_PAGE_SIZE;
	struct page *page;
	int error = object->ops->write_page(object, offset >> PORT_PAGE_SHIFT, from, bytes, &page);

	if (error)
		return error;
	memcpy((char *)page_address(frames, page) + from, buffer, bytes);
	/* After the bytes: who writes back from now on finds them. */
	object_set_dirty(page);
	if (!page_is_uptodate(page))
		page_end_flag(page, PG_locked, PG_uptodate);
	page_put(frames, page);
	if (offset + bytes > atomic_load_explicit(&object->bytes, memory_order_relaxed))
		atomic_store_explicit(&object->bytes, offset + bytes, memory_order_seq_cst);
	return 0;
}

static int64_t write_locked(struct sf_object *object, uint64_t offset, const char *buffer, uint64_t bytes)
{
	uint64_t done = 0, size = atomic_load_explicit(&object->bytes, memory_order_relaxed);
	int error = 0;

	if (object->file && offset + bytes > size)
		object_zero_tail(object, size);
	while (done < bytes && !error) {
		size_t part = in_page(offset + done, bytes - done);

		error = write_part(object, offset + done, buffer + done, part);
		if (!error)
			done += part;
	}
	return done ? (int64_t)done : error;
}

/* Where no page can be had, some are reclaimed without the lock: the object's own may be the most. */
static int64_t write_or_reclaim(struct sf_system *system, struct sf_object *object, uint64_t offset,
				const char *buffer, uint64_t bytes)
{
	unsigned fruitless = 0;
	uint64_t done = 0;
	int64_t result;

	system_forget_refusal(system);
	do {
		down_write(&object->lock);
		result = write_locked(object, offset + done, buffer + done, bytes - done);
		up_write(&object->lock);
		if (result > 0)
			done += (uint64_t)result;
	} while (done < bytes && system_make_room(system, NULL, &fruitless));
	return done ? (int64_t)done : result;
}

int64_t sf_object_write(struct sf_object *object, uint64_t offset, const void *buffer, uint64_t bytes)
{
	struct sf_system *system = enter_object_call(object);
	int64_t result = 0;

	if (offset > SF_OBJECT_BYTES_MAX || bytes > SF_OBJECT_BYTES_MAX) {
		result = -EINVAL;
	} else if (bytes) {
		if (bytes > SF_OBJECT_BYTES_MAX - offset)
			bytes = SF_OBJECT_BYTES_MAX - offset;
		result = bytes ? write_or_reclaim(system, object, offset, buffer, bytes) : -EFBIG;
	}
	system_exit_call(system);
	return result;
}

void sf_object_statistics(struct sf_object *object, struct sf_object_statistics *statistics)
{
	struct sf_system *system = enter_object_call(object);
	uint64_t index = 0, pages = 0, dirty = 0, writeback = 0, swapped = 0;
	uintptr_t entry;

	port_rcu_read_lock();
	for (; (entry = page_index_next_entry(&object->index, &index, PAGE_INDEX_END)); index++) {
		const struct page *page = index_entry_page(entry);

		swapped += index_entry_is_swap(entry);
		if (!page)
			continue;
		pages++;
		dirty += page_has_flag(page, PG_dirty);
		writeback += page_has_flag(page, PG_writeback);
	}
	*statistics = (struct sf_object_statistics){
	    .bytes = atomic_load_explicit(&object->bytes, memory_order_seq_cst),
	    .limit_bytes = object->ops->limit(object),
	    .cached = pages << PORT_PAGE_SHIFT,
	    .swapped = swapped << PORT_PAGE_SHIFT,
	    .dirty = dirty << PORT_PAGE_SHIFT,
	    .writeback = writeback << PORT_PAGE_SHIFT,
	    .index = page_index_nodes(&object->index) * sizeof(struct index_node),
	};
	port_rcu_read_unlock();
	down_read(&object->mappings_lock);
	statistics->mappings = object->mapping_count;
	up_read(&object->mappings_lock);
	system_exit(system);
}
