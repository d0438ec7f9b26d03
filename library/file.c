/* SPDX-License-Identifier: MIT */
/* The part of softfault.h that is about files of the real machine. */
#include "host/file_backing.h"
#include "softfault.h"

int sf_file_open_fd(struct sf_system *system, int file, struct sf_object **object)
{
	struct sf_backing *backing;
	int error = host_file_backing_open(file, &backing);

	if (error)
		return error;
	error = sf_file_open(system, backing, object);
	if (error)
		backing->ops->release(backing);
	return error;
}
