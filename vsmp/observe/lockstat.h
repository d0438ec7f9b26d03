/* SPDX-License-Identifier: MIT */
/*
 * Lock statistics by class of lock.
 */
#ifndef VSMP_OBSERVE_LOCKSTAT_H
#define VSMP_OBSERVE_LOCKSTAT_H

#include <stdint.h>

#include "vsmp/report.h"

/* Starts collecting for `cpus` CPUs; without it the events of locks are ignored. Returns 0 or -ENOMEM. */
int lockstat_open(unsigned cpus);
void lockstat_close(void);

/* The window of `cpu` begins: of a wait under way only what follows counts. */
void lockstat_begin_window(unsigned cpu, uint64_t now_cycles);

/*
 * Adds the rows to `report`, by time waited, greatest first. Returns 0, or -ENOMEM with rows that vsmp_report
 * can free.
 */
int lockstat_report(struct vsmp_report *report);

/* How many events there was no memory for. */
uint64_t lockstat_dropped(void);

#endif
