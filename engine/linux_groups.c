/* SPDX-License-Identifier: MIT */
#include "engine/linux_groups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"

#define PATH_BYTES 1024

/* How long it takes at the most until the kernel has let go of the last process of a group. */
#define REMOVE_TRIES 2000
#define REMOVE_WAIT  5000000 /* ns */

static struct {
	char *path[ENGINE_GROUPS_MAX]; /* of each group that was made */
	bool unified;
	pid_t remover;
	int to_remover; /* paths go through it, each with its NUL; its end is the end of the run */
} groups = {.to_remover = -1};

/* Finds the next line of a file that `is_it` likes. */
static bool find_line(const char *name, bool (*is_it)(char *line, char *found), char *found)
{
	FILE *file = fopen(name, "re");
	char *line = NULL;
	size_t room = 0;
	bool ok = false;

	while (file && !ok && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		ok = is_it(line, found);
	}
	free(line);
	if (file)
		fclose(file);
	return ok;
}

/* Whether `list`, separated by commas, has `item`. */
static bool has_item(char *list, const char *item)
{
	char *rest = list;

	for (char *one = strsep(&rest, ","); one; one = strsep(&rest, ","))
		if (!strcmp(one, item))
			return true;
	return false;
}

/*
 * A line of mountinfo(5): "36 35 0:32 ROOT POINT options - cgroup source memory,...". What is mounted is the
 * part of the hierarchy below ROOT. Writes "ROOT POINT".
 */
static bool is_mount(char *line, char *found, const char *type, const char *option)
{
	char root[PATH_BYTES / 2], point[PATH_BYTES / 2], kind[32], options[256];
	char *tail = strstr(line, " - ");

	if (!tail || sscanf(line, "%*s %*s %*s %511s %511s", root, point) != 2 ||
	    sscanf(tail, " - %31s %*s %255s", kind, options) != 2 || strcmp(kind, type) ||
	    (option && !has_item(options, option)))
		return false;
	sprintf(found, "%s %s", root, point);
	return true;
}

static bool is_unified_mount(char *line, char *found)
{
	return is_mount(line, found, "cgroup2", NULL);
}

static bool is_memory_mount(char *line, char *found)
{
	return is_mount(line, found, "cgroup", "memory");
}

/* A line of /proc/self/cgroup: "4:memory:/path", and "0::/path" of the unified hierarchy. */
static bool is_own_unified(char *line, char *found)
{
	return !strncmp(line, "0::", 3) && snprintf(found, PATH_BYTES, "%s", line + 3) > 0;
}

static bool is_own_memory(char *line, char *found)
{
	char *rest = line;
	char *controllers;

	strsep(&rest, ":");
	controllers = strsep(&rest, ":");
	return controllers && rest && has_item(controllers, "memory") &&
	       snprintf(found, PATH_BYTES, "%s", rest) > 0;
}

/* Where the group of this process is, and how much of that is where the hierarchy is mounted. */
static bool own_folder(bool unified, char *folder, size_t *mount_length)
{
	char mount[PATH_BYTES], own[PATH_BYTES], root[PATH_BYTES / 2], point[PATH_BYTES / 2];
	const char *below = own;
	size_t length;

	if (!find_line("/proc/self/mountinfo", unified ? is_unified_mount : is_memory_mount, mount) ||
	    !find_line("/proc/self/cgroup", unified ? is_own_unified : is_own_memory, own) ||
	    sscanf(mount, "%511s %511s", root, point) != 2)
		return false;
	length = strcmp(root, "/") ? strlen(root) : 0;
	*mount_length = strlen(point);
	below = strncmp(own, root, length) ? "" : own + length;
	return snprintf(folder, PATH_BYTES, "%s%s", point, strcmp(below, "/") ? below : "") < PATH_BYTES;
}

static int write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_BYTES + 64];
	int file, error = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	if (write(file, text, strlen(text)) < 0)
		error = -errno;
	close(file);
	return error;
}

/* Makes a folder whose group counts memory. */
static int make_folder(const char *parent, unsigned group, bool unified, char *folder)
{
	char counter[PATH_BYTES + 64];
	int error;

	if (snprintf(folder, PATH_BYTES, "%s/softfault-%ld-%u", parent, (long)getpid(), group) >= PATH_BYTES)
		return -ENAMETOOLONG;
	if (unified)
		write_file(parent, "cgroup.subtree_control", "+memory");
	if (mkdir(folder, 0755))
		return -errno;
	snprintf(counter, sizeof(counter), "%s/%s", folder,
		 unified ? "memory.current" : "memory.usage_in_bytes");
	if (!access(counter, R_OK))
		return 0;
	error = -EOPNOTSUPP;
	rmdir(folder);
	return error;
}

/*
 * Below the own group, and in the unified hierarchy, where a group with processes can have none below it that
 * count memory, below the nearest above it that can.
 */
static int make_top(bool unified, unsigned group, char *folder)
{
	char parent[PATH_BYTES];
	size_t mount_length;
	int error, first = 0;

	if (!own_folder(unified, parent, &mount_length))
		return -EOPNOTSUPP;
	for (;;) {
		char *end;

		error = make_folder(parent, group, unified, folder);
		first = first ? first : error;
		end = strrchr(parent, '/');
		if (!error || !unified || !end || strlen(parent) <= mount_length)
			return error ? first : 0;
		*end = '\0';
	}
}

static void remove_folder(const char *folder)
{
	const struct timespec wait = {.tv_nsec = REMOVE_WAIT};

	for (unsigned i = 0; i < REMOVE_TRIES && rmdir(folder) && errno == EBUSY; i++)
		nanosleep(&wait, NULL);
}

/* The body of the remover: it has been told all paths when the pipe ends, and the last made goes first. */
static _Noreturn void remove_at_end(int from_run)
{
	static char paths[ENGINE_GROUPS_MAX * PATH_BYTES];
	size_t bytes = 0;
	ssize_t got;

	do {
		got = read(from_run, paths + bytes, sizeof(paths) - bytes);
		bytes += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	while (bytes) {
		bytes--;
		while (bytes && paths[bytes - 1])
			bytes--;
		remove_folder(paths + bytes);
	}
	_exit(0);
}

/* Nothing of the run's is kept open by it, and no signal that is meant for the run reaches it. */
static int start_remover(void)
{
	sigset_t all, before;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	groups.remover = fork();
	if (!groups.remover) {
		setsid();
		dup2(ends[0], 0);
		close_range(1, ~0u, 0);
		remove_at_end(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	groups.to_remover = ends[1];
	if (groups.remover > 0)
		return 0;
	groups.remover = 0;
	linux_groups_forget();
	return -EAGAIN;
}

static int tell_remover(const char *path)
{
	ssize_t bytes = (ssize_t)strlen(path) + 1;

	return write(groups.to_remover, path, (size_t)bytes) == bytes ? 0 : -EIO;
}

int linux_groups_create(unsigned group, unsigned parent)
{
	char folder[PATH_BYTES];
	int error = groups.remover ? 0 : start_remover();

	if (error)
		return error;
	if (parent) {
		error = make_folder(groups.path[parent], group, groups.unified, folder);
	} else {
		groups.unified = true;
		error = make_top(true, group, folder);
		if (error) {
			int of_unified = error;

			groups.unified = false;
			error = make_top(false, group, folder);
			if (error == -EOPNOTSUPP)
				error = of_unified;
		}
	}
	if (error)
		return error;
	groups.path[group] = strdup(folder);
	error = groups.path[group] ? tell_remover(folder) : -ENOMEM;
	if (error)
		rmdir(folder);
	return error;
}

int linux_groups_set_limit(unsigned group, uint64_t bytes)
{
	char text[32];

	if (!groups.path[group])
		return -EINVAL;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	return write_file(groups.path[group], groups.unified ? "memory.max" : "memory.limit_in_bytes", text);
}

uint64_t linux_groups_count(unsigned group, const char *key)
{
	char path[PATH_BYTES + 64], name[64];
	unsigned long long value, found = 0;
	FILE *file;

	if (!groups.path[group])
		return 0;
	snprintf(path, sizeof(path), "%s/memory.stat", groups.path[group]);
	file = fopen(path, "re");
	while (file && fscanf(file, "%63s %llu", name, &value) == 2)
		if (!strcmp(name, key))
			found = value;
	if (file)
		fclose(file);
	return found;
}

int linux_groups_enter(unsigned group)
{
	return write_file(groups.path[group], "cgroup.procs", "0");
}

void linux_groups_forget(void)
{
	if (groups.to_remover >= 0)
		close(groups.to_remover);
	groups.to_remover = -1;
}

void linux_groups_remove(void)
{
	linux_groups_forget();
	if (groups.remover)
		while (waitpid(groups.remover, NULL, 0) < 0 && errno == EINTR)
			continue;
	groups.remover = 0;
	for (unsigned i = 0; i < ENGINE_GROUPS_MAX; i++) {
		free(groups.path[i]);
		groups.path[i] = NULL;
	}
}
