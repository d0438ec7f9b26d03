/* SPDX-License-Identifier: MIT */
/*
 * Conflicts: cache lines that two CPUs touched in their operation scopes, at least one of them writing.
 */
#ifndef VSMP_OBSERVE_CONFLICTS_H
#define VSMP_OBSERVE_CONFLICTS_H

#include <stdint.h>

#include "vsmp/report.h"

/* Starts collecting for `cpus` CPUs; without it accesses are ignored. Returns 0 or -ENOMEM. */
int conflicts_open(unsigned cpus);
void conflicts_close(void);

/* Lines first to first + lines - 1 begin a new life: what was seen before conflicts with nothing to come. */
void conflicts_renew(uint64_t first, uint64_t lines);

/* Adds the rows to `report`, by transfers, greatest first. Returns 0, or -ENOMEM with rows to free. */
int conflicts_report(struct vsmp_report *report);

/* How many accesses there was no memory for. */
uint64_t conflicts_dropped(void);

#endif
