/* SPDX-License-Identifier: MIT */
#include "cli/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is written, and for which option. */
struct output {
	const char *option, *path;
	output_writer *write;
	const void *argument;
};

bool output_file_is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int cannot(const char *option, const char *path, int error, struct message *why)
{
	return message_set(why, -error, "%s: %s cannot be written: %s", option, path, strerror(error));
}

/* A file beside the one at `path` (through links), which renaming can put in its place. */
static int make_beside(const char *option, const char *path, char **target, char **beside,
		       struct message *why)
{
	int file;

	*target = realpath(path, NULL);
	if (!*target && errno == ENOENT)
		*target = strdup(path);
	if (!*target)
		return cannot(option, path, errno, why);
	if (asprintf(beside, "%s.XXXXXX", *target) < 0) {
		free(*target);
		return message_set(why, -ENOMEM, "out of memory");
	}
	file = mkstemp(*beside);
	if (file >= 0)
		return file;
	file = cannot(option, path, errno, why);
	free(*target);
	free(*beside);
	return file;
}

int output_file_check(const char *option, const char *path, struct message *why)
{
	struct stat status;
	char *target, *beside;
	int file;

	if (output_file_is_stdout(path))
		return 0;
	if (!*path)
		return message_set(why, -EINVAL, "%s: the path is empty; give a file, or - for the output",
				   option);
	if (!stat(path, &status)) {
		if (S_ISDIR(status.st_mode))
			return cannot(option, path, EISDIR, why);
		if (access(path, W_OK))
			return cannot(option, path, errno, why);
		if (!S_ISREG(status.st_mode))
			return 0;
	} else if (errno != ENOENT) {
		return cannot(option, path, errno, why);
	}
	file = make_beside(option, path, &target, &beside, why);
	if (file < 0)
		return file;
	close(file);
	unlink(beside);
	free(target);
	free(beside);
	return 0;
}

/* Returns 0 or an errno. */
static int write_stream(FILE *out, const struct output *output)
{
	errno = 0;
	if (output->write(out, output->argument) || fflush(out) || ferror(out))
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

static int replace(const struct output *output, struct message *why)
{
	char *target, *beside;
	int file = make_beside(output->option, output->path, &target, &beside, why);
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
		error = write_stream(out, output);
		if (fclose(out) && !error)
			error = errno;
	}
	if (!error && rename(beside, target))
		error = errno;
	if (error) {
		unlink(beside);
		cannot(output->option, output->path, error, why);
	}
	free(target);
	free(beside);
	return -error;
}

int output_file_write(const char *option, const char *path, output_writer *write, const void *argument,
		      struct message *why)
{
	const struct output output = {option, path, write, argument};
	struct stat status;
	FILE *out;
	int error;

	if (output_file_is_stdout(path)) {
		error = write_stream(stdout, &output);
		return error ? cannot(option, "the output", error, why) : 0;
	}
	if (stat(path, &status) || S_ISREG(status.st_mode))
		return replace(&output, why);
	out = fopen(path, "we");
	error = out ? write_stream(out, &output) : errno;
	if (out && fclose(out) && !error)
		error = errno;
	return error ? cannot(option, path, error, why) : 0;
}
