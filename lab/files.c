/* SPDX-License-Identifier: MIT */
#include "lab/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOTS_MAX  3
#define FILE_BYTES ((size_t)16 << 20) /* far more than any file of ours; a device could go on for ever */

struct roots {
	char root[ROOTS_MAX][PATH_MAX];
	size_t count;
};

/* The folder above the one where the running program is: the source tree of build/softfault. */
static int above_program(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

	if (length <= 0)
		return -ENOENT;
	folder[length] = '\0';
	for (int level = 0; level < 2; level++) {
		char *slash = strrchr(folder, '/');

		if (!slash)
			return -ENOENT;
		*slash = '\0';
	}
	return 0;
}

static int find_roots(struct roots *roots, struct message *why)
{
	const char *given = getenv("SOFTFAULT_PATH");
	struct stat status;

	roots->count = 0;
	if (given && *given) {
		if (stat(given, &status) || !S_ISDIR(status.st_mode))
			return message_set(
			    why, -EINVAL,
			    "SOFTFAULT_PATH names %s, which is no folder that can be read; it must name "
			    "one that has experiments and machines in it, or not be set",
			    message_quote(given).text);
		snprintf(roots->root[roots->count++], PATH_MAX, "%s/", given);
		return 0;
	}
	roots->root[roots->count++][0] = '\0';
	if (!above_program(roots->root[roots->count]))
		strncat(roots->root[roots->count++], "/", 2);
	snprintf(roots->root[roots->count++], PATH_MAX, "%s/", SOFTFAULT_SHARE);
	return 0;
}

/* Whatever is there: what is no file, or cannot be reached, is told when it is read. */
static bool exists(const char *path)
{
	struct stat status;

	return !stat(path, &status) || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
}

int files_find_data(const char *relative, char **path, struct message *why)
{
	struct roots roots;
	int error;

	*path = NULL;
	error = find_roots(&roots, why);
	if (error)
		return error;
	for (size_t i = 0; i < roots.count; i++) {
		if (asprintf(path, "%s%s", roots.root[i], relative) < 0) {
			*path = NULL;
			return message_set(why, -ENOMEM, "out of memory");
		}
		if (exists(*path))
			return 0;
		free(*path);
	}
	*path = NULL;
	return message_set(why, -ENOENT,
			   "there is no %s; go to softfault's folder, or let SOFTFAULT_PATH name it",
			   relative);
}

int files_find(const char *kind, const char *name, char **path, struct message *why)
{
	struct names names = {0};
	char suggestion[MESSAGE_BYTES / 2];
	char *relative;
	int error;

	*path = NULL;
	if (strchr(name, '/')) {
		if (!exists(name))
			return message_set(why, -ENOENT, "there is no file %s", message_quote(name).text);
		*path = strdup(name);
		return *path ? 0 : message_set(why, -ENOMEM, "out of memory");
	}
	if (asprintf(&relative, "%s/%s.yaml", kind, name) < 0)
		return message_set(why, -ENOMEM, "out of memory");
	error = files_find_data(relative, path, why);
	free(relative);
	if (error != -ENOENT)
		return error;
	error = files_list(kind, &names, why);
	if (error)
		return error;
	names_suggest(suggestion, sizeof(suggestion), name, (const char *const *)names.name, names.count);
	names_free(&names);
	return message_set(why, -ENOENT, "there is no %.*s called \"%s\"; %s", (int)strlen(kind) - 1, kind,
			   message_quote(name).text, suggestion);
}

static int list_folder(const char *folder, struct names *names)
{
	static const char suffix[] = ".yaml";
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int error = 0;

	if (!directory)
		return -ENOENT;
	while (!error && (entry = readdir(directory))) {
		size_t length = strlen(entry->d_name);

		if (length < sizeof(suffix) || strcmp(entry->d_name + length - strlen(suffix), suffix))
			continue;
		entry->d_name[length - strlen(suffix)] = '\0';
		error = names_add(names, entry->d_name);
	}
	closedir(directory);
	return error;
}

int files_list(const char *kind, struct names *names, struct message *why)
{
	struct roots roots;
	bool found = false;
	int error = find_roots(&roots, why);

	if (error)
		return error;
	for (size_t i = 0; i < roots.count; i++) {
		char *folder;

		if (asprintf(&folder, "%s%s", roots.root[i], kind) < 0)
			return message_set(why, -ENOMEM, "out of memory");
		error = list_folder(folder, names);
		free(folder);
		if (error == -ENOMEM)
			return message_set(why, -ENOMEM, "out of memory");
		found = found || !error;
	}
	if (!found)
		return message_set(
		    why, -ENOENT,
		    "there is no folder %s; go to softfault's folder, or let SOFTFAULT_PATH name it", kind);
	names_sort(names);
	return 0;
}

static const char *kind_of(mode_t mode)
{
	return S_ISDIR(mode)    ? "a folder"
	       : S_ISFIFO(mode) ? "a pipe"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

/* Opens a regular file; a pipe that nobody writes into must not keep us waiting. */
static int open_regular(const char *path, FILE **file, struct message *why)
{
	int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	int error;

	/* A socket cannot be opened. */
	if (descriptor < 0 && errno != ENXIO)
		return message_set(why, -errno, "%s: %s", path, strerror(errno));
	if (descriptor < 0 ? stat(path, &status) : fstat(descriptor, &status))
		error = message_set(why, -errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(status.st_mode))
		error =
		    message_set(why, -EINVAL, "%s is %s; it must be a file", path, kind_of(status.st_mode));
	else
		error = (*file = fdopen(descriptor, "r")) ? 0 : message_set(why, -ENOMEM, "out of memory");
	if (error && descriptor >= 0)
		close(descriptor);
	return error;
}

int files_read(const char *path, char **text, size_t *bytes, struct message *why)
{
	FILE *file;
	size_t room = 0, used = 0;
	char *all = NULL;
	int error = open_regular(path, &file, why);

	if (error)
		return error;
	for (;;) {
		char *larger;
		size_t got;

		if (room - used < 4096) {
			room = 2 * room + 8192;
			larger = room <= FILE_BYTES ? realloc(all, room) : NULL;
			if (!larger) {
				error = message_set(why, -EFBIG, "%s: larger than %zu bytes", path,
						    FILE_BYTES / 2);
				break;
			}
			all = larger;
		}
		got = fread(all + used, 1, room - used - 1, file);
		used += got;
		if (!got)
			break;
	}
	if (!error && ferror(file))
		error = message_set(why, -EIO, "%s: %s", path, strerror(errno));
	fclose(file);
	if (error) {
		free(all);
		return error;
	}
	all[used] = '\0';
	*text = all;
	*bytes = used;
	return 0;
}
