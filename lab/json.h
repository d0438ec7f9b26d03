/* SPDX-License-Identifier: MIT */
/*
 * Studies and predictions for programs. The schema is stable: keys are added, none changes its meaning.
 *
 * docs/result.schema.json is the schema itself, to which tests hold the outputs.
 *
 * {"schema":1, "experiment", "engine", "machine", "seed", "results":[...]}, and for each case in "results":
 *   variant, options, cpus    options: of the workload, as it was run
 *   operations       done in the measured windows of all CPUs together
 *   seconds          the longest of these windows
 *   ns_per_op        time of one operation of a CPU; the median of the repetitions
 *   ops_per_second   of all CPUs
 *   samples          ns_per_op of each repetition
 *   extrapolated_seconds  for as many operations as were published, to set beside "published"; null where
 *                    that number is not known
 *   peak_retired_bytes    of memory that waited for a grace period, at most; null where that is not known
 *   transfers_per_op, conflicts_per_op (null where the engine cannot tell or was not asked),
 *   dropped          events that were observed but not kept, for lack of memory: if not 0, what follows and
 *                    conflicts_per_op tell too little
 *   locks, profile   of the first repetition; empty unless asked for, locks also when a curve needs them
 *   stacks, lines, conflicts  the same; lines and conflicts are those of struct vsmp_report, times in ns
 *   published        figures of others for this case: quantity, symbol, caller, value, unit, source, kind,
 *                    ours (of a profile share, if a profile was taken; else null), ticks and our_ticks (of
 *                    the timer, where it was published in these, ours of as many in all; else null), and of
 *                    a prediction range
 *   range            only of a prediction: low and high of extrapolated_seconds over what is assumed, or null
 * Beside "results": title, source, workload, operation, repetitions, operations_per_cpu, warm_up_per_cpu,
 * published_operations, placement, and
 *   machine_details  the simulated machine and each of its figures with where it comes from; else null
 *   computer         the computer whose CPUs ran, and its state (lab/computer.h); else null
 *   what_if          what was changed (lab/what_if.h), or null
 *   scaling          the curve of each variant that has one (lab/scaling.h)
 *   command          what writes the same again; added by the command
 * "machine" is null where real CPUs were used. A prediction also has "growth": variant, from and to (CPUs),
 * ratio, range, published.
 */
#ifndef LAB_JSON_H
#define LAB_JSON_H

#include <jansson.h>

#include "lab/prediction.h"
#include "lab/published.h"
#include "lab/study.h"

/* Each returns a new object, or NULL when out of memory. */
json_t *json_study(const struct study *study, const struct published_list *published);
/* The array "scaling": how each variant scales that was run on enough different numbers of CPUs. */
json_t *json_scaling(const struct study *study);
/* {"schema":1, "engines":[...]}, each as json_study() makes it. */
json_t *json_engines(const struct study *studies, size_t count);
/* json_study() of a study that changes something; each result has "as_is_ns_per_op" too, of `as_is`. */
json_t *json_what_if(const struct study *study, const struct study *as_is);
json_t *json_prediction(const struct prediction *prediction, const struct published_list *published);

#endif
