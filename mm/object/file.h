/* SPDX-License-Identifier: MIT */
/*
 * Files: objects whose pages are read from a backing and written to it (struct sf_backing in softfault.h).
 */
#ifndef MM_OBJECT_FILE_H
#define MM_OBJECT_FILE_H

#include "mm/object/cache.h"
#include "mm/page/page_io.h"
#include "softfault.h"

struct file_object {
	struct sf_object cache;
	/* Read only. */
	CACHE_LINE_ALIGNED struct sf_backing *backing;
	/* The errno, positive, of the write that failed last, until somebody is told; 0: none. Atomic. */
	CACHE_LINE_ALIGNED _Atomic int write_error;
	/*
	 * How large the backing is known to be: less than the size after a write beyond it, whose page can
	 * have been punched away since. Atomic; only ever grows but by who holds the object's lock for
	 * writing.
	 */
	_Atomic uint64_t backing_bytes;
	/*
	 * Where the backing will end, from before it is cut until the size says so, too; else UINT64_MAX.
	 * What is read from beyond meanwhile can be zeroes that the object never had. Atomic; written by who
	 * holds the object's lock for writing.
	 */
	_Atomic uint64_t cut_bytes;
	uint64_t write_back_at; /* the page where objects_write_back() goes on; by objects->writing_back */
};

static inline struct file_object *file_of(struct sf_object *object)
{
	return container_of(object, struct file_object, cache);
}

/* Makes the object of `backing`. Returns as sf_file_open(), with one reference. Not from the fault path. */
int file_create(struct objects *objects, struct sf_backing *backing, struct sf_object **object);

/*
 * Writes the dirty pages of [first, end) and waits for them. A page whose write failed is dirty again, and
 * the object has the error until file_take_error(). Sleeps; the object's lock is held for reading or writing,
 * or nobody else can reach the object.
 */
void file_write_back(struct file_object *file, uint64_t first, uint64_t end);

/*
 * Surround a cut of the backing and of the size, to `bytes`. The object's lock is held for writing; in
 * between no page is read beyond.
 */
void file_cut_begin(struct file_object *file, uint64_t bytes);
void file_cut_end(struct file_object *file);

/* Calls the backing's resize(). The object's lock is held for writing. Returns 0, or what that returns. */
int file_resize_backing(struct file_object *file, uint64_t bytes);

/* Keeps an error to be told; returns it, negative, to the one caller that tells, 0 when there is none. */
void file_set_error(struct file_object *file, int error);
int file_take_error(struct file_object *file);

#endif
