/* SPDX-License-Identifier: MIT */
/*
 * Samples as `perf script -F period,ip,sym` prints them, as the rows of a report.
 */
#ifndef ENGINE_PERF_SCRIPT_H
#define ENGINE_PERF_SCRIPT_H

#include <stdio.h>

#include "vsmp/report.h"

/*
 * Reads samples to the end of `in` and adds their profile and stacks to `report`, which has none yet, by self
 * time, greatest first; self_cycles are periods. Callers are in the stacks alone. Returns 0, -EINVAL for text
 * that is no such output, or -ENOMEM; perf_report_free() frees what was added, also after an error.
 */
int perf_script_read(FILE *in, struct vsmp_report *report);

#endif
