/* SPDX-License-Identifier: MIT */
/* The part of softfault.h that is about swap on files of the real machine, and compressed in its memory. */
#include <errno.h>

#include "host/file_backing.h"
#include "host/swap_compressed.h"
#include "mm/system/system.h"
#include "softfault.h"

/* Takes the backing over, also after an error. */
static int add(struct sf_system *system, struct sf_backing *backing, int priority, bool discard)
{
	int error = system_add_swap(system, backing, priority, discard);

	if (error)
		backing->ops->release(backing);
	return error;
}

int sf_swap_add_fd(struct sf_system *system, int file, int priority)
{
	struct sf_backing *backing;
	int error;

	if (system_structure_only(system))
		return -EINVAL;
	error = host_file_backing_open(file, &backing);
	return error ? error : add(system, backing, priority, false);
}

int sf_swap_add_compressed(struct sf_system *system, uint64_t bytes, uint64_t memory_bytes, int priority)
{
	struct sf_backing *backing;
	int error;

	if (system_structure_only(system))
		return -EINVAL;
	error = host_swap_compressed_create(bytes / SF_PAGE_SIZE, memory_bytes, &backing);
	return error ? error : add(system, backing, priority, true);
}
