/* SPDX-License-Identifier: MIT */
#include "tests/diff/library_objects.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "host/file_backing.h"

/* More than RAM: slots that a write has failed for are not used again. */
#define SWAP_BYTES (64 << 20)

/* --- Backings ------------------------------------------------------------------------------------------ */

static struct library_backing *backing_of(struct sf_backing *backing)
{
	return container_of(backing, struct library_backing, backing);
}

static bool is_bad(struct library_objects *objects)
{
	if (objects->good == LIBRARY_OBJECTS_GOOD)
		return false;
	if (!objects->good)
		return true;
	objects->good--;
	return false;
}

static int read_pages(struct sf_backing *backing, struct sf_io *io)
{
	struct library_backing *own = backing_of(backing);

	return is_bad(own->objects) ? -EIO : own->inner->ops->read(own->inner, io);
}

static int write_pages(struct sf_backing *backing, struct sf_io *io)
{
	struct library_backing *own = backing_of(backing);

	return is_bad(own->objects) ? -EIO : own->inner->ops->write(own->inner, io);
}

static int resize(struct sf_backing *backing, uint64_t bytes)
{
	struct library_backing *own = backing_of(backing);

	return is_bad(own->objects) ? -EIO : own->inner->ops->resize(own->inner, bytes);
}

static int punch(struct sf_backing *backing, uint64_t offset, uint64_t bytes)
{
	struct library_backing *own = backing_of(backing);

	return is_bad(own->objects) ? -EIO : own->inner->ops->punch(own->inner, offset, bytes);
}

static int sync_file(struct sf_backing *backing)
{
	struct library_backing *own = backing_of(backing);

	return is_bad(own->objects) ? -EIO : own->inner->ops->sync(own->inner);
}

static void release(struct sf_backing *backing)
{
	struct library_backing *own = backing_of(backing);

	own->inner->ops->release(own->inner);
	own->inner = NULL;
}

static const struct sf_backing_ops failing_ops = {
    .read = read_pages,
    .write = write_pages,
    .resize = resize,
    .punch = punch,
    .sync = sync_file,
    .release = release,
};

/* --- Objects ------------------------------------------------------------------------------------------- */

bool library_objects_open(struct library_objects *objects)
{
	objects->good = LIBRARY_OBJECTS_GOOD;
	for (unsigned i = 0; i < DIFF_OBJECTS; i++) {
		objects->file[i] = i < DIFF_FILES ? -1 : memfd_create("diff", MFD_CLOEXEC);
		if (i >= DIFF_FILES && objects->file[i] < 0)
			return false;
	}
	return true;
}

void library_objects_close(struct library_objects *objects)
{
	for (unsigned i = 0; i < DIFF_OBJECTS; i++) {
		if (objects->file[i] >= 0)
			close(objects->file[i]);
	}
}

static int add_failing_swap(struct library_objects *objects, struct sf_system *system, int file)
{
	struct library_backing *own = &objects->swap;
	int error = host_file_backing_open(file, &own->inner);

	if (error)
		return error;
	own->backing.ops = &failing_ops;
	own->backing.bytes = own->inner->bytes;
	own->objects = objects;
	error = sf_swap_add(system, &own->backing, 0);
	if (error)
		own->inner->ops->release(own->inner);
	return error;
}

int library_objects_add_swap(struct library_objects *objects, struct sf_system *system, unsigned kind)
{
	int file, error;

	if (kind == 1)
		return sf_swap_add_memory(system, SWAP_BYTES, 0);
	if (kind == 2)
		return sf_swap_add_compressed(system, SWAP_BYTES, SWAP_BYTES, 0);
	file = memfd_create("diff", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, SWAP_BYTES))
		return -errno;
	error = kind == 0 ? sf_swap_add_fd(system, file, 0) : add_failing_swap(objects, system, file);
	close(file);
	return error;
}

static int open_file(struct library_objects *objects, struct sf_system *system, unsigned number)
{
	struct library_backing *own = &objects->backing[number];
	int error = 0;

	if (ftruncate(objects->file[number], 0) ||
	    ftruncate(objects->file[number], (off_t)diff_object_bytes(number)))
		return -errno;
	error = host_file_backing_open(objects->file[number], &own->inner);
	if (error)
		return error;
	own->backing.ops = &failing_ops;
	own->backing.bytes = own->inner->bytes;
	own->objects = objects;
	error = sf_file_open(system, &own->backing, &objects->object[number]);
	if (error)
		own->inner->ops->release(own->inner);
	return error;
}

int library_objects_make(struct library_objects *objects, struct sf_system *system)
{
	int error = 0;

	for (unsigned i = 0; i < DIFF_OBJECTS && !error; i++) {
		objects->object[i] = NULL;
		error = i < DIFF_FILES
			    ? sf_object_create(system, diff_object_bytes(i), 0, &objects->object[i])
			    : open_file(objects, system, i);
	}
	return error;
}

static const char *compare_file(const struct library_objects *objects, unsigned number)
{
	static unsigned char ours[MODEL_PAGE], theirs[MODEL_PAGE];
	struct sf_object_statistics statistics;
	struct stat status;

	sf_object_statistics(objects->object[number], &statistics);
	if (statistics.dirty || statistics.writeback)
		return "a file has dirty pages after a sync that told of no error";
	if (fstat(objects->file[number], &status) || (uint64_t)status.st_size != statistics.bytes)
		return "a file and its object differ in size";
	for (uint64_t at = diff_object_base(number); at < statistics.bytes; at += MODEL_PAGE) {
		ssize_t got = pread(objects->file[number], theirs, sizeof(theirs), (off_t)at);

		if (sf_object_read(objects->object[number], at, ours, sizeof(ours)) != got || got < 0 ||
		    memcmp(ours, theirs, (size_t)got) != 0)
			return "a file and its object differ: a written byte is lost";
	}
	return NULL;
}

const char *library_objects_drop(struct library_objects *objects, bool fails)
{
	const char *wrong = NULL;

	for (unsigned i = 0; i < DIFF_OBJECTS; i++) {
		if (i >= DIFF_FILES && fails) {
			objects->good = 0;
			if (!sf_object_sync(objects->object[i]))
				wrong = "a sync that could not be tells of no error";
			objects->good = LIBRARY_OBJECTS_GOOD;
		}
		if (sf_object_sync(objects->object[i]))
			wrong = "a sync fails for no reason";
		if (i >= DIFF_FILES && !wrong)
			wrong = compare_file(objects, i);
		sf_object_close(objects->object[i]);
	}
	return wrong;
}

bool library_objects_gone(const struct library_objects *objects)
{
	bool gone = true;

	for (unsigned i = DIFF_FILES; i < DIFF_OBJECTS; i++)
		gone &= !objects->backing[i].inner;
	return gone;
}

/* --- Operations ---------------------------------------------------------------------------------------- */

static void copy(struct sf_object *object, const struct diff_operation *operation, struct diff_result *result)
{
	static unsigned char bytes[DIFF_BYTES_MAX];
	int64_t done;

	if (operation->kind == DIFF_OBJECT_WRITE) {
		diff_fill(operation, bytes);
		done = sf_object_write(object, operation->offset, bytes, operation->length);
		result->value = done < 0 ? 0 : (uint64_t)done;
	} else {
		done = sf_object_read(object, operation->offset, bytes, operation->length);
		result->value = done < 0 ? 0 : diff_digest(bytes, (size_t)done);
	}
	if (done < 0)
		result->error = (int32_t)done;
}

static void look(struct sf_object *object, unsigned number, struct diff_result *result)
{
	static unsigned char page[MODEL_PAGE];
	struct sf_object_statistics statistics;
	int64_t got;

	sf_object_statistics(object, &statistics);
	result->value = statistics.bytes;
	for (uint64_t at = diff_object_base(number);
	     (got = sf_object_read(object, at, page, sizeof(page))) > 0; at += MODEL_PAGE)
		result->value = diff_chain(result->value, page, (size_t)got);
}

void library_object_run(struct library_objects *objects, const struct diff_operation *operation,
			struct diff_result *result)
{
	struct sf_object *object = objects->object[operation->object];

	switch (operation->kind) {
	case DIFF_OBJECT_RESIZE:
		result->error = sf_object_resize(object, operation->offset);
		break;
	case DIFF_OBJECT_PUNCH:
		result->error = sf_object_punch(object, operation->offset, operation->length);
		break;
	case DIFF_OBJECT_SYNC:
		result->error = sf_object_sync(object);
		break;
	case DIFF_LOOK_OBJECT:
		look(object, operation->object, result);
		break;
	default:
		copy(object, operation, result);
		break;
	}
}
