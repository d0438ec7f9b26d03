/* SPDX-License-Identifier: MIT */
#include "cli/json_file.h"

#include <errno.h>

#include "cli/output_file.h"

/* Fifteen digits: 1.3 stays 1.3, and no figure of ours is good to more. */
#define JSON_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(15))

bool json_file_is_stdout(const char *path)
{
	return output_file_is_stdout(path);
}

int json_file_check(const char *path, struct message *why)
{
	return output_file_check("--json", path, why);
}

static int dump(FILE *out, const void *object)
{
	return json_dumpf(object, out, JSON_FLAGS) || fputc('\n', out) == EOF;
}

int json_file_write(const char *path, json_t *object, struct message *why)
{
	int error;

	if (!object)
		return message_set(why, -ENOMEM, "--json: out of memory");
	error = output_file_write("--json", path, dump, object, why);
	json_decref(object);
	return error;
}
