/* SPDX-License-Identifier: MIT */
/*
 * The tasks of a run on the running kernel, pinned one to a processor: threads of this process, or of
 * processes that are forked for the run, one for each space.
 */
#ifndef ENGINE_LINUX_TASKS_H
#define ENGINE_LINUX_TASKS_H

#include "engine/engine.h"

struct linux_tasks {
	unsigned cpus;
	/*
	 * 0: threads of this process. 1: threads of one process beside it. `cpus`: a process each, the one of
	 * CPU n for space n.
	 */
	unsigned processes;
	const unsigned *group; /* of each process, see engine/linux_groups.h */
	bool profile;
	void (*body)(unsigned cpu, void *argument);
	void *argument; /* what bodies in processes write is seen here only where it is shared memory */
};

/*
 * Runs the body of every CPU and adds their page faults to `statistics`; takes a profile into `report` if
 * there is to be one. windows_reset() has been called. Returns 0, or a negative errno with a message.
 */
int linux_tasks_run(const struct linux_tasks *tasks, struct engine_statistics *statistics,
		    struct vsmp_report *report, struct message *why);

/* The number of the CPU whose body calls. */
unsigned linux_tasks_cpu(void);

#endif
