/* SPDX-License-Identifier: MIT */
#include "host/file_backing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "port/memory.h"

struct file_backing {
	struct sf_backing backing;
	int file;
};

static int file_of(const struct sf_backing *backing)
{
	return container_of(backing, const struct file_backing, backing)->file;
}

static unsigned fill_vector(const struct sf_io *io, uint64_t done, struct iovec *vector)
{
	unsigned count = 0;

	while (done < io->bytes) {
		uint64_t in_page = done % SF_PAGE_SIZE, left = io->bytes - done;
		uint64_t part = SF_PAGE_SIZE - in_page < left ? SF_PAGE_SIZE - in_page : left;

		vector[count].iov_base = (char *)io->page[done / SF_PAGE_SIZE] + in_page;
		vector[count].iov_len = part;
		count++;
		done += part;
	}
	return count;
}

/* What the file does not have: another has cut it meanwhile, or it is beyond what it ever had. */
static void zero_rest(const struct sf_io *io, uint64_t done)
{
	struct iovec vector[SF_IO_PAGES_MAX];
	unsigned count = fill_vector(io, done, vector);

	for (unsigned i = 0; i < count; i++)
		memset(vector[i].iov_base, 0, vector[i].iov_len);
}

/* A transfer may be short, or be interrupted before its first byte. */
static int transfer(struct sf_backing *backing, struct sf_io *io, bool write)
{
	struct iovec vector[SF_IO_PAGES_MAX];
	int file = file_of(backing), caller_errno = errno, error = 0;
	uint64_t done = 0;

	while (done < io->bytes && !error) {
		int count = (int)fill_vector(io, done, vector);
		off_t offset = (off_t)(io->offset + done);
		ssize_t got =
		    write ? pwritev(file, vector, count, offset) : preadv(file, vector, count, offset);

		if (got > 0) {
			done += (uint64_t)got;
		} else if (got < 0) {
			error = errno == EINTR ? 0 : -errno;
		} else if (write) {
			error = -EIO;
		} else {
			zero_rest(io, done);
			break;
		}
	}
	/* A touch may come from a signal handler. */
	errno = caller_errno;
	if (!error)
		sf_io_done(io, 0);
	return error;
}

static int file_read(struct sf_backing *backing, struct sf_io *io)
{
	return transfer(backing, io, false);
}

static int file_write(struct sf_backing *backing, struct sf_io *io)
{
	return transfer(backing, io, true);
}

static int file_resize(struct sf_backing *backing, uint64_t bytes)
{
	int result;

	do
		result = ftruncate(file_of(backing), (off_t)bytes);
	while (result && errno == EINTR);
	return result ? -errno : 0;
}

static int file_punch(struct sf_backing *backing, uint64_t offset, uint64_t bytes)
{
	int result;

	do
		result = fallocate(file_of(backing), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   (off_t)offset, (off_t)bytes);
	while (result && errno == EINTR);
	return result ? -errno : 0;
}

static int file_sync(struct sf_backing *backing)
{
	int result;

	do
		result = fdatasync(file_of(backing));
	while (result && errno == EINTR);
	return result ? -errno : 0;
}

static void file_release(struct sf_backing *backing)
{
	struct file_backing *own = container_of(backing, struct file_backing, backing);

	close(own->file);
	port_memory_free(own, sizeof(*own));
}

static const struct sf_backing_ops file_ops = {
    .read = file_read,
    .write = file_write,
    .resize = file_resize,
    .punch = file_punch,
    .sync = file_sync,
    .release = file_release,
};

static int check_file(int file, struct stat *status)
{
	int flags = fcntl(file, F_GETFL);

	if (flags < 0 || fstat(file, status))
		return -errno;
	if ((flags & O_ACCMODE) != O_RDWR)
		return -EACCES;
	return S_ISREG(status->st_mode) && !(flags & (O_APPEND | O_DIRECT)) ? 0 : -EINVAL;
}

int host_file_backing_open(int file, struct sf_backing **backing)
{
	struct file_backing *own;
	struct stat status;
	int error = check_file(file, &status);

	if (error)
		return error;
	own = port_memory_alloc(sizeof(*own), PORT_NODE_FIRST_TOUCH, "struct file_backing");
	if (!own)
		return -ENOMEM;
	own->backing.ops = &file_ops;
	own->backing.bytes = (uint64_t)status.st_size;
	own->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (own->file < 0) {
		error = -errno;
		port_memory_free(own, sizeof(*own));
		return error;
	}
	*backing = &own->backing;
	return 0;
}
