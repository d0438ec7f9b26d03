/* SPDX-License-Identifier: MIT */
/*
 * Files that a command writes. The path is tried before anything runs, and the file appears whole or not at
 * all.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/message.h"

/* Writes to `out`. Returns 0, or not 0 when that failed, with errno if there is a reason. */
typedef int output_writer(FILE *out, const void *argument);

/*
 * Returns 0 if a file can be written at `path`, or a negative errno with a message that begins with the
 * option that named it ("--json"). Leaves nothing there. "-" is stdout; what is no regular file (a pipe,
 * /dev/null) is written to directly.
 */
int output_file_check(const char *option, const char *path, struct message *why);

/* Writes the file. Returns 0, or a negative errno with a message; then what was at `path` is still there. */
int output_file_write(const char *option, const char *path, output_writer *write, const void *argument,
		      struct message *why);

/* True if `path`, which may be NULL, is stdout. */
bool output_file_is_stdout(const char *path);

#endif
