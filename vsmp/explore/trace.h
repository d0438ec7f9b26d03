/* SPDX-License-Identifier: MIT */
/*
 * The interleaving in a report: the last steps of each CPU, in a column of its own where there is room.
 */
#ifndef VSMP_EXPLORE_TRACE_H
#define VSMP_EXPLORE_TRACE_H

#include <stdio.h>

#include "vsmp/explore/record.h"

/*
 * Prints the events of `record` that matter to more than one CPU, the last of them, in rows of `columns`
 * characters. `other`, if not NULL, is marked as the failure's other side. Returns 0 or -ENOMEM.
 */
int trace_print(FILE *out, unsigned columns, const struct record_event *other);

#endif
