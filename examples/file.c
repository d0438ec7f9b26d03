/* SPDX-License-Identifier: MIT */
/*
 * Maps a file, changes it, and syncs: what is there is counted up by one. Built with
 *
 *     cc file.c $(pkg-config --cflags --libs softfault) -o file
 *
 * and called with the file's name, or without one for a file of its own that is gone at the end.
 */
#include <softfault.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAPPED_BYTES (16 * SF_PAGE_SIZE)

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "file: %s: %s\n", what, strerror(-error));
		exit(1);
	}
}

static int open_file(const char *path)
{
	FILE *own;
	int file;

	if (path) {
		file = open(path, O_RDWR | O_CREAT, 0644);
	} else {
		own = tmpfile();
		file = own ? fileno(own) : -1;
	}
	if (file < 0) {
		perror(path ? path : "file: a file of its own");
		exit(1);
	}
	return file;
}

int main(int count, char **argument)
{
	const struct sf_options options = {.memory_bytes = 16 << 20};
	int file = open_file(count > 1 ? argument[1] : NULL);
	struct sf_object_statistics now;
	struct sf_system *system;
	struct sf_object *object;
	struct sf_space *space;
	uint64_t memory;
	char line[32] = "";

	must(sf_system_create(&options, &system, NULL), "a system of 16 MiB");
	must(sf_thread_enter(system), "a slot for this thread");
	must(sf_space_create(system, &space), "a space");
	must(sf_file_open_fd(system, file, &object), "the file's object");

	/* At least one page, so that there is something to touch. */
	sf_object_statistics(object, &now);
	if (now.bytes < SF_PAGE_SIZE)
		must(sf_object_resize(object, SF_PAGE_SIZE), "a page");
	must(sf_map_object(space, 0, MAPPED_BYTES, SF_PROT_READ | SF_PROT_WRITE, SF_MAP_SHARED, object, 0,
			   &memory),
	     "a mapping");

	sf_read(space, memory, line, sizeof(line) - 1, NULL);
	snprintf(line, sizeof(line), "%d\n", atoi(line) + 1);
	sf_write(space, memory, line, sizeof(line), NULL);
	sf_object_statistics(object, &now);
	printf("dirty before the sync: %llu bytes\n", (unsigned long long)now.dirty);
	must(sf_sync(space, memory, MAPPED_BYTES, SF_SYNC_SYNC), "the sync");
	sf_object_statistics(object, &now);
	printf("dirty after it: %llu bytes\n", (unsigned long long)now.dirty);

	memset(line, 0, sizeof(line));
	if (pread(file, line, sizeof(line) - 1, 0) < 0)
		perror("file: pread");
	printf("the file holds: %s", line);

	sf_object_close(object);
	sf_space_destroy(space);
	sf_thread_exit(system);
	sf_system_destroy(system);
	close(file);
	return 0;
}
