/* SPDX-License-Identifier: MIT */
/*
 * The parts of a study's JSON that have a file of their own.
 */
#ifndef LAB_JSON_PARTS_H
#define LAB_JSON_PARTS_H

#include <jansson.h>

#include "lab/study.h"

/* What was observed in one case. Arrays, empty where nothing was. Times are in ns. */
json_t *json_locks(const struct study *study, const struct vsmp_report *report);
json_t *json_profile(const struct vsmp_report *report);
json_t *json_stacks(const struct study *study, const struct vsmp_report *report);
json_t *json_lines(const struct study *study, const struct vsmp_report *report);
json_t *json_conflicts(const struct vsmp_report *report);

/* Each figure of the simulated machine with where it comes from. NULL where the study has no machine. */
json_t *json_machine(const struct study *study);

/* The computer whose CPUs ran. NULL where the study has a machine. */
json_t *json_computer(const struct study *study);

#endif
