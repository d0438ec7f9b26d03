/* SPDX-License-Identifier: MIT */
/*
 * Pairs of results that may be set against each other, and why others may not.
 */
#ifndef LAB_COMPARABLE_H
#define LAB_COMPARABLE_H

#include "lab/comparison.h"
#include "lab/cpu_list.h"
#include "lab/result_file.h"

struct comparable_choice {
	const char *variant, *other_variant; /* of A and of B; NULL: each with its namesake */
	const struct cpu_list *cpus;         /* only these, if the list has any */
	bool what_if;                        /* a what-if run may stand beside one that is none */
};

/* Two results to compare; the studies and results are the files'. */
struct comparable_pair {
	const json_t *study, *a, *b;
	struct comparison comparison;
};

/*
 * Finds and compares all pairs of cases of two files, which may be one and the same. Writes *pairs (the
 * caller frees it) and *count, 1 or more. Returns 0; -EINVAL with a message that says why the files, or the
 * cases chosen in them, cannot be compared: another experiment, workload or its options, engine, machine or a
 * figure of it, placement, computer, number of operations, no CPU count or variant in common; -ENOMEM.
 */
int comparable_pairs(const struct result_file *a, const struct result_file *b,
		     const struct comparable_choice *choice, struct comparable_pair **pairs, size_t *count,
		     struct message *why);

#endif
