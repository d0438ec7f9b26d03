/* SPDX-License-Identifier: MIT */
#include "tests/explore/file.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "port/wait.h"
#include "tests/explore/fixture.h"

static struct file *file_of_backing(struct sf_backing *backing)
{
	return container_of(backing, struct file, backing);
}

/* Mappings may write to the page that is being written to the file, as they may while a device reads it. */
static void transfer(struct file *file, struct sf_io *io, bool write)
{
	spin_lock(&file->lock);
	for (unsigned i = 0; i < io->count; i++) {
		uint64_t page = io->offset / PAGE + i;
		_Atomic uint64_t *words = io->page[i];

		check_that(page < FILE_PAGES);
		if (!write)
			memset(io->page[i], 0, PAGE);
		for (unsigned word = 0; word < FILE_WORDS; word++) {
			if (write)
				file->word[page][word] =
				    atomic_load_explicit(&words[word], memory_order_relaxed);
			else if (page * PAGE < file->bytes)
				atomic_store_explicit(&words[word], file->word[page][word],
						      memory_order_relaxed);
		}
	}
	if (write && io->offset + io->bytes > file->bytes)
		file->bytes = io->offset + io->bytes;
	spin_unlock(&file->lock);
}

static void finish(struct file *file, struct sf_io *io)
{
	bool write = io->own != NULL;

	if (write && atomic_load_explicit(&file->failures, memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&file->failures, 1, memory_order_relaxed);
		sf_io_done(io, -EIO);
		return;
	}
	transfer(file, io, write);
	if (write)
		atomic_fetch_add_explicit(&file->written, 1, memory_order_relaxed);
	sf_io_done(io, 0);
}

static int begin(struct file *file, struct sf_io *io, bool write)
{
	io->own = write ? file : NULL;
	if (!file->late) {
		finish(file, io);
		return 0;
	}
	check_that(!atomic_exchange_explicit(&file->waiting, io, memory_order_release));
	atomic_fetch_add_explicit(&file->begun, 1, memory_order_release);
	port_wake(&file->begun, 1);
	return 0;
}

static int read_pages(struct sf_backing *backing, struct sf_io *io)
{
	return begin(file_of_backing(backing), io, false);
}

static int write_pages(struct sf_backing *backing, struct sf_io *io)
{
	return begin(file_of_backing(backing), io, true);
}

/* The words of the pages [first, end) are zeroes from now on. */
static void clear_locked(struct file *file, uint64_t first, uint64_t end)
{
	for (uint64_t page = first; page < end && page < FILE_PAGES; page++)
		memset(file->word[page], 0, sizeof(file->word[page]));
}

static int resize(struct sf_backing *backing, uint64_t bytes)
{
	struct file *file = file_of_backing(backing);

	if (bytes > FILE_PAGES * PAGE)
		return -EFBIG;
	spin_lock(&file->lock);
	clear_locked(file, (bytes + PAGE - 1) / PAGE, FILE_PAGES);
	file->bytes = bytes;
	spin_unlock(&file->lock);
	return 0;
}

static int punch(struct sf_backing *backing, uint64_t offset, uint64_t bytes)
{
	struct file *file = file_of_backing(backing);

	spin_lock(&file->lock);
	clear_locked(file, offset / PAGE, (offset + bytes) / PAGE);
	spin_unlock(&file->lock);
	return 0;
}

static void release(struct sf_backing *backing)
{
	atomic_fetch_add_explicit(&file_of_backing(backing)->released, 1, memory_order_relaxed);
}

static const struct sf_backing_ops file_ops = {
    .read = read_pages,
    .write = write_pages,
    .resize = resize,
    .punch = punch,
    .release = release,
};

void file_open(struct file *file, unsigned pages)
{
	memset(file, 0, sizeof(*file));
	spin_lock_init(&file->lock, LOCK_RANK_NONE);
	file->backing.ops = &file_ops;
	file->backing.bytes = file->bytes = pages * PAGE;
	for (unsigned page = 0; page < pages; page++)
		file->word[page][0] = page + 1;
}

void file_complete(struct file *file)
{
	for (;;) {
		uint32_t begun = atomic_load_explicit(&file->begun, memory_order_acquire);
		struct sf_io *io = atomic_exchange_explicit(&file->waiting, NULL, memory_order_acquire);

		if (io)
			finish(file, io);
		else if (atomic_load_explicit(&file->ended, memory_order_acquire))
			return;
		else
			port_wait(&file->begun, begun);
	}
}

void file_no_more(struct file *file)
{
	atomic_store_explicit(&file->ended, true, memory_order_release);
	atomic_fetch_add_explicit(&file->begun, 1, memory_order_release);
	port_wake(&file->begun, 1);
}
