/* SPDX-License-Identifier: MIT */
/*
 * A file in memory, for tests: any transfer can be made to fail, be late, or be counted.
 */
#ifndef TESTS_COMMON_MEMORY_BACKING_H
#define TESTS_COMMON_MEMORY_BACKING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "softfault.h"
#include "sync/spinlock.h"

#define MEMORY_BACKING_NEVER UINT64_MAX

struct memory_backing {
	struct sf_backing backing;
	struct spinlock lock; /* protects the bytes and the size, as a file system would */
	unsigned char *bytes; /* [room] */
	uint64_t size, room;  /* room: read only */
	/*
	 * Transfers, and other calls: how many there were, and how many writes failed; and how many from now
	 * on succeed. Atomic.
	 */
	_Atomic uint64_t reads, writes, others, failed_writes;
	_Atomic uint64_t good;
	int error;       /* what the others fail with */
	bool late;       /* a failure is told by sf_io_done(), not by the call */
	bool fails_once; /* only the first after `good` fails */
	bool released;
};

static inline bool memory_backing_fails(struct memory_backing *file)
{
	uint64_t good = atomic_load(&file->good);

	while (good != MEMORY_BACKING_NEVER) {
		if (good == 0) {
			if (file->fails_once)
				atomic_store(&file->good, MEMORY_BACKING_NEVER);
			return true;
		}
		if (atomic_compare_exchange_weak(&file->good, &good, good - 1))
			return false;
	}
	return false;
}

/* Ends a transfer that fails. */
static inline int memory_backing_fail(struct memory_backing *file, struct sf_io *io)
{
	if (!file->late)
		return file->error;
	sf_io_done(io, file->error);
	return 0;
}

static inline int memory_backing_read(struct sf_backing *backing, struct sf_io *io)
{
	struct memory_backing *file = container_of(backing, struct memory_backing, backing);

	atomic_fetch_add(&file->reads, 1);
	if (memory_backing_fails(file))
		return memory_backing_fail(file, io);
	spin_lock(&file->lock);
	for (uint64_t done = 0; done < io->bytes; done += SF_PAGE_SIZE) {
		uint64_t at = io->offset + done;
		uint64_t bytes = io->bytes - done < SF_PAGE_SIZE ? io->bytes - done : SF_PAGE_SIZE;
		uint64_t there = at < file->size ? file->size - at : 0;

		if (there > bytes)
			there = bytes;
		memcpy(io->page[done / SF_PAGE_SIZE], file->bytes + at, there);
		memset((char *)io->page[done / SF_PAGE_SIZE] + there, 0, bytes - there);
	}
	spin_unlock(&file->lock);
	sf_io_done(io, 0);
	return 0;
}

/* Mappings may write to the page meanwhile: then it will be written once more. */
static inline void memory_backing_copy(unsigned char *to, const void *page, uint64_t bytes)
{
	const _Atomic uint64_t *word = page;

	for (uint64_t at = 0; at < bytes; at += sizeof(*word)) {
		uint64_t value = atomic_load_explicit(word++, memory_order_relaxed);

		memcpy(to + at, &value, bytes - at < sizeof(value) ? bytes - at : sizeof(value));
	}
}

static inline int memory_backing_write(struct sf_backing *backing, struct sf_io *io)
{
	struct memory_backing *file = container_of(backing, struct memory_backing, backing);

	atomic_fetch_add(&file->writes, 1);
	if (memory_backing_fails(file)) {
		atomic_fetch_add(&file->failed_writes, 1);
		return memory_backing_fail(file, io);
	}
	if (io->offset + io->bytes > file->room)
		return -EFBIG;
	spin_lock(&file->lock);
	for (uint64_t done = 0; done < io->bytes; done += SF_PAGE_SIZE) {
		uint64_t bytes = io->bytes - done < SF_PAGE_SIZE ? io->bytes - done : SF_PAGE_SIZE;

		memory_backing_copy(file->bytes + io->offset + done, io->page[done / SF_PAGE_SIZE], bytes);
	}
	if (io->offset + io->bytes > file->size)
		file->size = io->offset + io->bytes;
	spin_unlock(&file->lock);
	sf_io_done(io, 0);
	return 0;
}

static inline int memory_backing_resize(struct sf_backing *backing, uint64_t bytes)
{
	struct memory_backing *file = container_of(backing, struct memory_backing, backing);

	atomic_fetch_add(&file->others, 1);
	if (memory_backing_fails(file))
		return file->error;
	if (bytes > file->room)
		return -EFBIG;
	spin_lock(&file->lock);
	if (bytes < file->size)
		memset(file->bytes + bytes, 0, file->size - bytes);
	file->size = bytes;
	spin_unlock(&file->lock);
	return 0;
}

static inline int memory_backing_punch(struct sf_backing *backing, uint64_t offset, uint64_t bytes)
{
	struct memory_backing *file = container_of(backing, struct memory_backing, backing);

	atomic_fetch_add(&file->others, 1);
	if (memory_backing_fails(file))
		return file->error;
	spin_lock(&file->lock);
	if (offset < file->size)
		memset(file->bytes + offset, 0, bytes < file->size - offset ? bytes : file->size - offset);
	spin_unlock(&file->lock);
	return 0;
}

static inline int memory_backing_sync(struct sf_backing *backing)
{
	struct memory_backing *file = container_of(backing, struct memory_backing, backing);

	atomic_fetch_add(&file->others, 1);
	return memory_backing_fails(file) ? file->error : 0;
}

static inline void memory_backing_release(struct sf_backing *backing)
{
	container_of(backing, struct memory_backing, backing)->released = true;
}

static const struct sf_backing_ops memory_backing_ops = {
    .read = memory_backing_read,
    .write = memory_backing_write,
    .resize = memory_backing_resize,
    .punch = memory_backing_punch,
    .sync = memory_backing_sync,
    .release = memory_backing_release,
};

/* Makes a file of `size` zero bytes that can grow to `room`. */
static inline void memory_backing_open(struct memory_backing *file, uint64_t size, uint64_t room)
{
	memset(file, 0, sizeof(*file));
	spin_lock_init(&file->lock, LOCK_RANK_NONE);
	file->backing.ops = &memory_backing_ops;
	file->backing.bytes = size;
	file->bytes = calloc(1, room);
	file->size = size;
	file->room = room;
	file->error = -EIO;
	atomic_store(&file->good, MEMORY_BACKING_NEVER);
}

static inline void memory_backing_close(struct memory_backing *file)
{
	free(file->bytes);
}

#endif
