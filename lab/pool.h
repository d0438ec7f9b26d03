/* SPDX-License-Identifier: MIT */
/*
 * Jobs, each in a process of its own, several at a time. A job can crash without taking us along, and one
 * virtual machine's memory is never another's.
 */
#ifndef LAB_POOL_H
#define LAB_POOL_H

#include <stdbool.h>

#include "base/message.h"
#include "lab/wire.h"

struct pool {
	size_t jobs;
	unsigned parallel; /* how many at a time, 1 or more */
	void *argument;    /* for the functions */

	/*
	 * Does a job, in its own process, and writes the result. Returns 0 or a negative errno with a
	 * message. `details` may be set to text of many lines that explains a failure; it must outlive the
	 * call.
	 */
	int (*work)(size_t job, void *argument, struct wire *result, struct message *why,
		    const char **details);
	/* Reads the result, in our process. Called in any order of jobs. */
	void (*take)(size_t job, void *argument, struct wire *result);
	/* Writes what a job is, for messages: "variant lock on 256 CPUs". */
	void (*describe)(size_t job, void *argument, char *text, size_t size);
	/* Whether jobs that have not begun need not begin any more; may be NULL. */
	bool (*enough)(void *argument);
	/* Called whenever a job has ended; may be NULL. */
	void (*progress)(size_t done, size_t jobs);
};

/*
 * Runs all jobs. Returns 0, or the error of the failed job with the lowest number, with its message, whatever
 * the order they ended in; jobs not begun by then are left out. -EINTR when a SIGINT, SIGTERM or SIGHUP came:
 * every job has been ended, and pool_signal() tells which. The caller has no other children and no threads.
 */
int pool_run(const struct pool *pool, struct message *why);

/* The signal that ended the last pool_run() with -EINTR. */
int pool_signal(void);

/* Returns how many jobs this computer runs at full speed. */
unsigned pool_processors(void);

#endif
