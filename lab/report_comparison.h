/* SPDX-License-Identifier: MIT */
/*
 * Comparisons, for people and for programs.
 */
#ifndef LAB_REPORT_COMPARISON_H
#define LAB_REPORT_COMPARISON_H

#include <stdio.h>

#include "lab/comparable.h"

/* One line for each pair. `width` is the room in columns, 0 for no bound. */
void report_comparison(FILE *out, unsigned width, const struct comparable_pair *pairs, size_t count);

/*
 * {"schema":1, "comparisons":[{experiment, variant, other_variant, cpus, a_ns_per_op, b_ns_per_op, ratio,
 * low, high, p, verdict, smallest_percent}]}; smallest_percent is null where there are too few repetitions.
 * NULL when out of memory.
 */
json_t *json_comparison(const struct comparable_pair *pairs, size_t count);

#endif
