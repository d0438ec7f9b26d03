/* SPDX-License-Identifier: MIT */
/*
 * Where the time of this process goes, by perf(1): `perf record -g` runs beside it, and what it has sampled
 * becomes the rows of a report. One recording at a time.
 */
#ifndef ENGINE_PERF_H
#define ENGINE_PERF_H

#include "base/message.h"
#include "vsmp/report.h"

/*
 * Returns 0 when perf is installed and may sample a program here; -ENOENT or -EPERM with a message that says
 * what is missing.
 */
int perf_check(struct message *why);

/* Starts sampling all threads that this process has and will have; it samples once this has returned 0. Or a
 * negative errno with a message. */
int perf_start(struct message *why);

/*
 * Ends the recording and adds its profile and its stacks to `report`, as vsmp_report() would; self_cycles are
 * what perf calls the period of its samples. Returns 0, or a negative errno with a message.
 */
int perf_stop(struct vsmp_report *report, struct message *why);

/* Frees what perf_stop() added. */
void perf_report_free(struct vsmp_report *report);

#endif
