/* SPDX-License-Identifier: MIT */
/*
 * Where --json goes. The path is tried before anything runs, and the file appears whole or not at all.
 */
#ifndef CLI_JSON_FILE_H
#define CLI_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/message.h"

/*
 * Returns 0 if a file can be written at `path`, or a negative errno with a message; see cli/output_file.h.
 */
int json_file_check(const char *path, struct message *why);

/* Writes `object`, which it frees (NULL: out of memory), and a newline. Returns 0, or a negative errno with a
 * message; then what was at `path` is still there. */
int json_file_write(const char *path, json_t *object, struct message *why);

/* True if `path`, which may be NULL, is stdout: then no table is printed there. */
bool json_file_is_stdout(const char *path);

#endif
