/* SPDX-License-Identifier: MIT */
/*
 * A first program: a space is filled and forked, and one of the two writes. Built with
 *
 *     cc minimal.c $(pkg-config --cflags --libs softfault) -o minimal
 */
#include <softfault.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 16

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "minimal: %s: %s\n", what, strerror(-error));
		exit(1);
	}
}

static void show(struct sf_system *system, const char *when)
{
	struct sf_system_statistics now;

	sf_system_statistics(system, &now);
	printf("%-24s %6llu %8llu\n", when, (unsigned long long)now.anonymous_frames,
	       (unsigned long long)now.copies_on_write);
}

int main(void)
{
	const struct sf_options options = {.memory_bytes = 64 << 20};
	struct sf_system *system;
	struct sf_space *parent, *child;
	uint64_t memory;
	char text[32];

	must(sf_system_create(&options, &system, NULL), "a system of 64 MiB");
	must(sf_thread_enter(system), "a slot for this thread");
	must(sf_space_create(system, &parent), "a space");
	must(sf_map(parent, 0, PAGES * SF_PAGE_SIZE, SF_PROT_READ | SF_PROT_WRITE,
		    SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &memory),
	     "a mapping");

	printf("%-24s %6s %8s\n", "", "pages", "copied");
	for (int page = 0; page < PAGES; page++) {
		snprintf(text, sizeof(text), "page %d", page);
		sf_write(parent, memory + page * SF_PAGE_SIZE, text, sizeof(text), NULL);
	}
	show(system, "the parent wrote");

	must(sf_space_fork(parent, &child), "a fork");
	show(system, "forked");

	sf_write(child, memory + 3 * SF_PAGE_SIZE, "the child's own", 16, NULL);
	show(system, "the child wrote once");

	sf_read(parent, memory + 3 * SF_PAGE_SIZE, text, sizeof(text), NULL);
	printf("the parent reads: %s\n", text);
	sf_read(child, memory + 3 * SF_PAGE_SIZE, text, sizeof(text), NULL);
	printf("the child reads:  %s\n", text);

	sf_space_destroy(child);
	sf_space_destroy(parent);
	show(system, "both are gone");
	sf_thread_exit(system);
	sf_system_destroy(system);
	return 0;
}
