/* SPDX-License-Identifier: MIT */
#include "lab/result_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *result_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

double result_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

struct key {
	const char *name;
	json_type type; /* JSON_REAL: any number */
	bool nullable;
};

static const struct key study_keys[] = {
    {"experiment", JSON_STRING, false},
    {"engine", JSON_STRING, false},
    {"machine", JSON_STRING, true},
    {"workload", JSON_STRING, false},
    {"operation", JSON_STRING, false},
    {"operations_per_cpu", JSON_REAL, false},
    {"machine_details", JSON_OBJECT, true},
    {"computer", JSON_OBJECT, true},
    {"placement", JSON_OBJECT, true},
    {"what_if", JSON_OBJECT, true},
    {"published_operations", JSON_REAL, true},
    {"scaling", JSON_ARRAY, false},
    {"results", JSON_ARRAY, false},
};

static const struct key result_keys[] = {
    {"variant", JSON_STRING, false},      {"options", JSON_OBJECT, false}, {"cpus", JSON_REAL, false},
    {"ns_per_op", JSON_REAL, false},      {"samples", JSON_ARRAY, false},  {"stacks", JSON_ARRAY, false},
    {"ops_per_second", JSON_REAL, false}, {"profile", JSON_ARRAY, false},
};

/* Returns the first key that `object` lacks or has with another type, or NULL. */
static const char *missing(const json_t *object, const struct key *keys, size_t count)
{
	if (!json_is_object(object))
		return "an object";
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, keys[i].name);

		if (value && json_is_null(value) && keys[i].nullable)
			continue;
		if (!value ||
		    (keys[i].type == JSON_REAL ? !json_is_number(value) : json_typeof(value) != keys[i].type))
			return keys[i].name;
	}
	return NULL;
}

/* All members of `array` are objects with a text `text` and a number `number`. */
static bool has_rows(const json_t *array, const char *text, const char *number)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (!result_text(json_array_get(array, i), text) ||
		    !json_is_number(json_object_get(json_array_get(array, i), number)))
			return false;
	return true;
}

static bool has_samples(const json_t *result)
{
	const json_t *samples = json_object_get(result, "samples");

	for (size_t i = 0; i < json_array_size(samples); i++)
		if (!(json_number_value(json_array_get(samples, i)) > 0))
			return false;
	return json_array_size(samples) > 0;
}

static const char *check_study(const json_t *study)
{
	const char *lacks = missing(study, study_keys, ARRAY_SIZE(study_keys));
	const json_t *results = json_object_get(study, "results");

	for (size_t i = 0; !lacks && i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);

		lacks = missing(result, result_keys, ARRAY_SIZE(result_keys));
		if (!lacks && !has_samples(result))
			lacks = "samples";
		if (!lacks && !has_rows(json_object_get(result, "stacks"), "path", "ns"))
			lacks = "stacks";
		if (!lacks && !has_rows(json_object_get(result, "profile"), "symbol", "self"))
			lacks = "profile";
	}
	return lacks;
}

static int load(struct result_file *file, struct message *why)
{
	json_error_t error;
	struct stat status;
	int found;

	/* That can be opened, and then says nothing. */
	if (!stat(file->path, &status) && S_ISDIR(status.st_mode))
		return message_set(why, -EISDIR, "%s cannot be read: %s", file->path, strerror(EISDIR));
	errno = 0;
	file->root =
	    strcmp(file->path, "-") ? json_load_file(file->path, 0, &error) : json_loadf(stdin, 0, &error);
	if (file->root)
		return 0;
	if (json_error_code(&error) != json_error_cannot_open_file)
		return message_set(why, -EINVAL, "%s:%d: this is no JSON: %s", file->path,
				   error.line < 1 ? 1 : error.line, error.text);
	found = errno ? errno : ENOENT;
	return message_set(why, -found, "%s cannot be read: %s", file->path, strerror(found));
}

static int find_studies(struct result_file *file, struct message *why)
{
	json_t *list = json_object_get(file->root, "engines");
	const json_t *schema;

	if (!list)
		list = json_object_get(file->root, "experiments");
	schema = json_object_get(file->root, "schema");
	if (json_is_integer(schema) && json_integer_value(schema) != 1)
		return message_set(why, -EINVAL,
				   "%s: its schema is %lld, and this version reads schema 1; run it again",
				   file->path, (long long)json_integer_value(schema));
	if (!json_is_integer(schema) || (!list && !json_object_get(file->root, "results")))
		return message_set(
		    why, -EINVAL,
		    "%s: this is no result; give a file that softfault run --json or softfault "
		    "reproduce --json wrote",
		    file->path);
	file->count = list ? json_array_size(list) : 1;
	if (!file->count)
		return message_set(why, -EINVAL, "%s: there is no study in it", file->path);
	file->studies = calloc(file->count, sizeof(json_t *));
	if (!file->studies)
		return message_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < file->count; i++) {
		const char *lacks;

		file->studies[i] = list ? json_array_get(list, i) : file->root;
		lacks = check_study(file->studies[i]);
		if (lacks)
			return message_set(
			    why, -EINVAL,
			    "%s: study %zu has no \"%s\" as this version writes it; run it again", file->path,
			    i + 1, lacks);
	}
	return 0;
}

int result_file_read(struct result_file *file, const char *path, struct message *why)
{
	int error;

	*file = (struct result_file){.path = path};
	error = load(file, why);
	if (!error)
		error = find_studies(file, why);
	if (error)
		result_file_close(file);
	return error;
}

void result_file_close(struct result_file *file)
{
	json_decref(file->root);
	free(file->studies);
	*file = (struct result_file){0};
}
