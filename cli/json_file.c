/* SPDX-License-Identifier: MIT */
#include "cli/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fifteen digits: 1.3 stays 1.3, and no figure of ours is good to more. */
#define JSON_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(15))

bool json_file_is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int cannot(const char *path, int error, struct message *why)
{
	return message_set(why, -error, "--json: %s cannot be written: %s", path, strerror(error));
}

/* A file beside the one at `path` (through links), which renaming can put in its place. */
static int make_beside(const char *path, char **target, char **beside, struct message *why)
{
	int file;

	*target = realpath(path, NULL);
	if (!*target && errno == ENOENT)
		*target = strdup(path);
	if (!*target)
		return cannot(path, errno, why);
	if (asprintf(beside, "%s.XXXXXX", *target) < 0) {
		free(*target);
		return message_set(why, -ENOMEM, "out of memory");
	}
	file = mkstemp(*beside);
	if (file >= 0)
		return file;
	file = cannot(path, errno, why);
	free(*target);
	free(*beside);
	return file;
}

int json_file_check(const char *path, struct message *why)
{
	struct stat status;
	char *target, *beside;
	int file;

	if (json_file_is_stdout(path))
		return 0;
	if (!*path)
		return message_set(why, -EINVAL,
				   "--json: the path is empty; give a file, or - for the output");
	if (!stat(path, &status)) {
		if (S_ISDIR(status.st_mode))
			return cannot(path, EISDIR, why);
		if (access(path, W_OK))
			return cannot(path, errno, why);
		if (!S_ISREG(status.st_mode))
			return 0;
	} else if (errno != ENOENT) {
		return cannot(path, errno, why);
	}
	file = make_beside(path, &target, &beside, why);
	if (file < 0)
		return file;
	close(file);
	unlink(beside);
	free(target);
	free(beside);
	return 0;
}

static int write_stream(FILE *out, const json_t *object)
{
	errno = 0;
	if (json_dumpf(object, out, JSON_FLAGS) || fputc('\n', out) == EOF || fflush(out))
		return errno ? errno : EIO;
	return 0;
}

/* As the file would have been made in place: its old rights, or those that the umask leaves to a new one. */
static void set_rights(int file, const char *target)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	fchmod(file, stat(target, &status) ? 0666 & ~mask : status.st_mode & 0777);
}

static int replace(const char *path, const json_t *object, struct message *why)
{
	char *target, *beside;
	int file = make_beside(path, &target, &beside, why);
	FILE *out;
	int error;

	if (file < 0)
		return file;
	set_rights(file, target);
	out = fdopen(file, "w");
	if (!out) {
		error = errno;
		close(file);
	} else {
		error = write_stream(out, object);
		if (fclose(out) && !error)
			error = errno;
	}
	if (!error && rename(beside, target))
		error = errno;
	if (error) {
		unlink(beside);
		cannot(path, error, why);
	}
	free(target);
	free(beside);
	return -error;
}

int json_file_write(const char *path, json_t *object, struct message *why)
{
	struct stat status;
	FILE *out;
	int error;

	if (!object)
		return message_set(why, -ENOMEM, "--json: out of memory");
	if (json_file_is_stdout(path)) {
		error = write_stream(stdout, object);
		if (error)
			cannot("the output", error, why);
	} else if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		out = fopen(path, "we");
		error = out ? write_stream(out, object) : errno;
		if (out && fclose(out) && !error)
			error = errno;
		if (error)
			cannot(path, error, why);
	} else {
		error = -replace(path, object, why);
	}
	json_decref(object);
	return -error;
}
