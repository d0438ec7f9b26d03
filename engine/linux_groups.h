/* SPDX-License-Identifier: MIT */
/*
 * Memory groups of the running kernel: control groups made for one run, below the one that this process is
 * in, of whichever hierarchy has the memory controller, the unified one or that of version 1.
 *
 * They are gone when the run is, however it ends: a process beside it waits for its end and removes them.
 */
#ifndef ENGINE_LINUX_GROUPS_H
#define ENGINE_LINUX_GROUPS_H

#include <stdint.h>

/*
 * Makes group `group` (1 to ENGINE_GROUPS_MAX - 1) below `parent`, which exists; 0 is the group of this
 * process. Returns 0, or a negative errno: -EOPNOTSUPP when no memory controller is mounted, -EACCES, -EROFS
 * and others where none can be made, as in a container.
 */
int linux_groups_create(unsigned group, unsigned parent);

/* Sets how much memory a group that exists may have. Returns 0 or a negative errno. */
int linux_groups_set_limit(unsigned group, uint64_t bytes);

/* Adds up what a group's memory.stat has under `key`, "pgscan"; 0 where it has no such line. */
uint64_t linux_groups_count(unsigned group, const char *key);

/* Moves the calling process into a group that exists. Returns 0 or a negative errno. */
int linux_groups_enter(unsigned group);

/* In a process that was forked: it does not keep the groups alive. */
void linux_groups_forget(void);

/* Removes all groups, which no process is in any more, and returns when they are gone. */
void linux_groups_remove(void);

#endif
