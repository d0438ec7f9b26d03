/* SPDX-License-Identifier: MIT */
/*
 * What the CPUs of an experiment do, written once against engine/engine.h. Each is one file in
 * lab/workloads/ and one row in lab/workload.c.
 */
#ifndef LAB_WORKLOAD_H
#define LAB_WORKLOAD_H

#include "engine/engine.h"

struct workload_size {
	unsigned cpus;
	uint64_t published; /* operations of each CPU in the published measurement: how large its memory is */
	uint64_t measured;  /* operations of each CPU in the measured window, 1 or more */
	uint64_t warm_up;   /* and before it */
};

struct workload {
	const char *name;
	const char *operation; /* what one operation is, for tables: "insertion" */
	bool structure_only;   /* never looks into pages */

	/* How much RAM its mappings are of. */
	uint64_t (*memory_bytes)(const struct workload_size *size);

	/* Returns NULL, or why `engine` cannot do it. */
	const char *(*refusal)(const struct engine *engine);

	/*
	 * Sets up, measures and tears down on an open engine. Returns 0, or a negative errno with a message:
	 * what an operation returned, -EDEADLK, or -EINVAL when an invariant of the system does not hold.
	 */
	int (*run)(const struct engine *engine, const struct workload_size *size,
		   struct engine_timing *timing, struct message *why);
};

/* Returns the workload called `name`, or NULL with a message that lists the names. */
const struct workload *workload_find(const char *name, struct message *why);

extern const struct workload workload_pfn_insert;

#endif
