/* SPDX-License-Identifier: MIT */
/*
 * Files that `run --json` and `reproduce --json` wrote, read again: a flat list of studies, whatever the file
 * wraps them in. A study is a JSON object as lab/json.h describes it.
 */
#ifndef LAB_RESULT_FILE_H
#define LAB_RESULT_FILE_H

#include <jansson.h>

#include <stdbool.h>

#include "base/message.h"

struct result_file {
	const char *path; /* the caller's */
	json_t *root;
	json_t **studies; /* parts of root */
	size_t count;     /* 1 or more */
};

/*
 * Reads the file at `path`, "-" for standard input. Returns 0, or a negative errno with a message that begins
 * with the path and, for what is no JSON, the line: -EINVAL when it is none of our files. What is read has
 * every key that the functions below, lab/comparable.h and lab/export.h use. result_file_close() frees it.
 */
int result_file_read(struct result_file *file, const char *path, struct message *why);
void result_file_close(struct result_file *file);

/* Short cuts into an object that was so checked. */
const char *result_text(const json_t *object, const char *key); /* NULL when it is null or missing */
double result_number(const json_t *object, const char *key);    /* 0 when it is null or missing */

#endif
