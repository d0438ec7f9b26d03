/* SPDX-License-Identifier: MIT */
/*
 * Where experiments, machines and measured data are found. Looked through in this order: the folder that the
 * environment variable SOFTFAULT_PATH names (then no other), the current folder, the folder above the
 * program's own, and where `make install` puts them.
 */
#ifndef LAB_FILES_H
#define LAB_FILES_H

#include "base/message.h"
#include "lab/names.h"

/*
 * Finds KIND/NAME.yaml, where `kind` is "experiments" or "machines"; a `name` with a slash is a path itself.
 * Writes the path, which the caller frees, NULL after an error. Returns 0; -ENOENT with a message that lists
 * the names there are; -EINVAL with a message when SOFTFAULT_PATH names no folder; -ENOMEM.
 */
int files_find(const char *kind, const char *name, char **path, struct message *why);

/* The same for one file whose path below such a folder is known: "machines/calibration/line-sharing.csv". */
int files_find_data(const char *relative, char **path, struct message *why);

/* Adds the names of all files of a kind to `names`, sorted. Returns 0; -ENOENT with a message when no folder
 * of that kind is found; -EINVAL with one when SOFTFAULT_PATH names no folder. */
int files_list(const char *kind, struct names *names, struct message *why);

/* Reads all of a regular file; `text` ends with a NUL, the caller frees it. Returns 0 or a negative errno
 * with a message: -EINVAL when what is there is no regular file. */
int files_read(const char *path, char **text, size_t *bytes, struct message *why);

#endif
