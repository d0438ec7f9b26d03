/* SPDX-License-Identifier: MIT */
/*
 * A backing over a file of the real machine: its transfers are preadv() and pwritev(), which end before they
 * return. A page in the machine's own cache is copied faster than it could be handed to another thread or to
 * a ring, and who reads one waits for it anyway; so nothing here is asynchronous.
 */
#ifndef HOST_FILE_BACKING_H
#define HOST_FILE_BACKING_H

#include "softfault.h"

/*
 * Makes a backing of an open file, over a descriptor of its own. Returns 0 with it in *backing; -EBADF (no
 * descriptor), -EACCES (not open for both reading and writing), -EINVAL (not a regular file; or open with
 * O_APPEND, which writes elsewhere, or with O_DIRECT, which cannot write a last part of a page), -EMFILE, or
 * -ENOMEM. What release() frees.
 */
int host_file_backing_open(int file, struct sf_backing **backing);

#endif
