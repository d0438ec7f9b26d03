/* SPDX-License-Identifier: MIT */
/*
 * What workloads find out beside the time of an operation (struct workload_figure), over the repetitions of a
 * case; and what several of them cost each other.
 */
#ifndef LAB_MEASURED_H
#define LAB_MEASURED_H

#include <jansson.h>
#include <stdio.h>

#include "lab/study.h"

/* Returns the median of figure number `figure` of the case of number `index` over its repetitions; NAN where
 * the case does not have it. */
double measured_figure(const struct study *study, size_t index, unsigned figure);

/* One line a figure, one column a case; nothing where the workload has none. `width` as in lab/report.h. */
void measured_print(FILE *out, unsigned width, const struct study *study);

/*
 * What the parts of a workload cost each other: where one case has several figures and another of the same
 * variant's policy and as many CPUs has one of them alone, one line with both. Nothing where there are no
 * such.
 */
void measured_print_alone(FILE *out, unsigned width, const struct study *study);

/* [{"name", "unit", "value"}] of a case, without those that it does not have. */
json_t *measured_json(const struct study *study, size_t index);

#endif
