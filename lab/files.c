/* SPDX-License-Identifier: MIT */
#include "lab/files.h"

#include <dirent.h>
#include <errno.h>
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

static void find_roots(struct roots *roots)
{
	const char *given = getenv("SOFTFAULT_PATH");

	roots->count = 0;
	if (given && *given) {
		snprintf(roots->root[roots->count++], PATH_MAX, "%s/", given);
		return;
	}
	roots->root[roots->count++][0] = '\0';
	if (!above_program(roots->root[roots->count]))
		strncat(roots->root[roots->count++], "/", 2);
	snprintf(roots->root[roots->count++], PATH_MAX, "%s/", SOFTFAULT_SHARE);
}

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISDIR(status.st_mode);
}

int files_find_data(const char *relative, char **path, struct message *why)
{
	struct roots roots;

	find_roots(&roots);
	for (size_t i = 0; i < roots.count; i++) {
		if (asprintf(path, "%s%s", roots.root[i], relative) < 0) {
			*path = NULL;
			return message_set(why, -ENOMEM, "out of memory");
		}
		if (is_file(*path))
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
		if (!is_file(name))
			return message_set(why, -ENOENT, "there is no file %s", name);
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
			   name, suggestion);
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

	find_roots(&roots);
	for (size_t i = 0; i < roots.count; i++) {
		char *folder;
		int error;

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

int files_read(const char *path, char **text, size_t *bytes, struct message *why)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, used = 0;
	char *all = NULL;
	int error = 0;

	if (!file)
		return message_set(why, -errno, "%s: %s", path, strerror(errno));
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
