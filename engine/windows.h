/* SPDX-License-Identifier: MIT */
/*
 * The measured windows of a run on real threads, and the barrier of its bodies. Each engine that runs threads
 * has a copy of its own. A CPU's number is 0 to PORT_CPUS_MAX - 1, below the number of CPUs of the run.
 */
#ifndef ENGINE_WINDOWS_H
#define ENGINE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

/*
 * Before a run of `cpus` CPUs, by one thread while no body runs. Processes that are forked later are of the
 * same run. Returns 0 or -ENOMEM.
 */
int windows_reset(unsigned cpus);

/* By the thread of `cpu`, whose body has returned: keeps nobody waiting; a window that is open ends. */
void windows_return(unsigned cpu);

/* After a run: puts together what the windows say. CPUs without operations have no time an operation. */
void windows_timing(struct engine_timing *timing);

/* What the engine's table has; `cpu` is the calling one. */
void windows_barrier(void);
void windows_begin(unsigned cpu);
void windows_end(unsigned cpu);
bool windows_active(void);
void windows_count(unsigned cpu, uint64_t operations);
uint64_t windows_clock_ns(void);

#endif
