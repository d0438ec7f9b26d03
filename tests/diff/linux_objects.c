/* SPDX-License-Identifier: MIT */
/* The objects of the Linux side: memfds, and files in a directory for temporary files. */
#include "tests/diff/linux_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int files[DIFF_OBJECTS];

/* Opens a file without a name, of which any page can be mapped for execution or be a hole; or returns -1. */
static int open_in(const char *folder)
{
	struct statvfs system;
	char path[200];
	int file;

	if (!folder || snprintf(path, sizeof(path), "%s/softfault-diff.XXXXXX", folder) >= (int)sizeof(path))
		return -1;
	file = mkstemp(path);
	if (file < 0)
		return -1;
	unlink(path);
	if (!fstatvfs(file, &system) && !(system.f_flag & ST_NOEXEC) && !ftruncate(file, MODEL_PAGE) &&
	    !fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, MODEL_PAGE))
		return file;
	close(file);
	return -1;
}

static int open_file(void)
{
	const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
	int file = -1;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && file < 0; i++)
		file = open_in(folders[i]);
	return file;
}

bool linux_objects_open(struct linux_channel *channel)
{
	for (unsigned i = 0; i < DIFF_OBJECTS; i++) {
		files[i] = i < DIFF_FILES ? memfd_create("diff", 0) : open_file();
		if (files[i] >= 0)
			continue;
		linux_complain(channel,
			       i < DIFF_FILES
				   ? "memfd_create"
				   : "no folder for temporary files that can be executed and have holes",
			       i < DIFF_FILES ? errno : 0);
		return false;
	}
	return true;
}

void linux_objects_reset(struct linux_channel *channel)
{
	for (unsigned i = 0; i < DIFF_OBJECTS; i++) {
		if (ftruncate(files[i], 0) || ftruncate(files[i], (off_t)diff_object_bytes(i)))
			linux_complain(channel, "cannot make the objects anew", errno);
	}
}

int linux_object_file(unsigned object)
{
	return files[object];
}

static int32_t done(long result)
{
	return result < 0 ? -errno : 0;
}

static void copy(const struct diff_operation *operation, struct diff_result *result)
{
	static unsigned char bytes[DIFF_BYTES_MAX];
	int file = files[operation->object];
	off_t offset = (off_t)operation->offset;
	ssize_t got;

	if (operation->kind == DIFF_OBJECT_WRITE) {
		diff_fill(operation, bytes);
		got = pwrite(file, bytes, operation->length, offset);
		result->value = got < 0 ? 0 : (uint64_t)got;
	} else {
		got = pread(file, bytes, operation->length, offset);
		result->value = got < 0 ? 0 : diff_digest(bytes, (size_t)got);
	}
	result->error = done(got);
}

static void look(unsigned object, struct diff_result *result)
{
	static unsigned char page[MODEL_PAGE];
	struct stat status;
	ssize_t got;

	result->error = done(fstat(files[object], &status));
	result->value = (uint64_t)status.st_size;
	for (uint64_t at = diff_object_base(object);
	     (got = pread(files[object], page, sizeof(page), (off_t)at)) > 0; at += MODEL_PAGE)
		result->value = diff_chain(result->value, page, (size_t)got);
}

void linux_object_run(const struct diff_operation *operation, struct diff_result *result)
{
	int file = files[operation->object];
	off_t offset = (off_t)operation->offset;

	switch (operation->kind) {
	case DIFF_OBJECT_RESIZE:
		result->error = done(ftruncate(file, offset));
		break;
	case DIFF_OBJECT_PUNCH:
		result->error = done(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
					       (off_t)operation->length));
		break;
	case DIFF_OBJECT_SYNC:
		/* Of a file it takes long, and nothing comes of it that could be seen. */
		result->error = operation->object < DIFF_FILES ? done(fsync(file)) : 0;
		break;
	case DIFF_LOOK_OBJECT:
		look(operation->object, result);
		break;
	default:
		copy(operation, result);
		break;
	}
}
