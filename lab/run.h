/* SPDX-License-Identifier: MIT */
/*
 * Running experiments: one request is one simulation (or one run on real threads), each in its own process.
 */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "lab/experiment.h"
#include "lab/machine.h"
#include "lab/what_if.h"
#include "lab/workload.h"

struct run_request {
	const struct engine *engine;
	const struct experiment *experiment;
	const struct experiment_variant *variant;
	const struct machine *machine; /* NULL where the engine needs none */
	const struct machine_point *point;
	struct vsmp_placement placement;
	unsigned cpus;
	struct workload_settings settings;
	uint64_t seed;
	uint64_t operations, warm_up;  /* of each CPU */
	const struct what_if *what_if; /* functions that are to cost less; NULL: none */
	bool profile, locks, lines, conflicts;
	bool unchecked; /* see struct workload_size */
	bool small;     /* see struct workload_size; with no more memory than its own operations need */
};

struct run_result {
	struct workload_outcome outcome;
	struct vsmp_report report; /* what was not asked for is empty */
};

/*
 * Runs all requests, several at a time if the engine simulates, and writes the result of each to the place of
 * the same number. Returns 0; a negative errno with the message of the failed request that was begun first;
 * -EINTR after a signal, see pool_signal(). run_results_free() frees what the results hold, also after an
 * error. `results` starts as zeroes. `progress` may be NULL.
 */
int run_all(const struct run_request *requests, size_t count, struct run_result *results,
	    void (*progress)(size_t done, size_t count), struct message *why);
void run_results_free(struct run_result *results, size_t count);

/* Runs one request in this process, from opening the engine to closing it. Returns 0 or a negative errno with
 * a message. */
int run_here(const struct run_request *request, struct message *why);

/* Returns the seconds that `operation_seconds` makes of the published operations of a CPU; of one operation
 * where the experiment does not say how many were published. */
double run_extrapolated_seconds(const struct experiment *experiment, double operation_seconds);

/* Returns the engine called `name`, or NULL with a message that lists the names. */
const struct engine *run_engine(const char *name, struct message *why);

/* Returns whether an engine is the virtual machine, which needs a machine and measures no computer. */
bool run_is_simulated(const struct engine *engine);

#endif
