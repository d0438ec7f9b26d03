/* SPDX-License-Identifier: MIT */
/*
 * The cache lines that moved between cores.
 */
#ifndef VSMP_OBSERVE_LINES_H
#define VSMP_OBSERVE_LINES_H

#include <stdint.h>

#include "vsmp/report.h"

/* Starts collecting for `cpus` CPUs; without it the events of lines are ignored. */
void lines_observe(unsigned cpus);
void lines_ignore(void);

/* Lines first to first + lines - 1 begin a new life: what stands there is asked anew. */
void lines_renew(uint64_t first, uint64_t lines);

/*
 * Adds the rows to `report`, by transfers, greatest first. A row stands for all lines whose most transferred
 * field has one name. Returns 0, or -ENOMEM with rows that vsmp_report can free.
 */
int lines_report(struct vsmp_report *report);

/* How many events there was no memory for. */
uint64_t lines_dropped(void);

#endif
