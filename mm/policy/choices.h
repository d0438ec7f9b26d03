/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/policy/: every choice of every field, in one table that all else is made from.
 */
#ifndef MM_POLICY_CHOICES_H
#define MM_POLICY_CHOICES_H

#include <stddef.h>
#include <stdint.h>

#include "mm/policy/policy.h"

struct policy_choice {
	const char *field;
	size_t offset; /* of the field in struct policy; its values are small enumerations, reached as ints */
	const char *choice;
	int value;
};

/* The rows of one field stand together, its default first. */
extern const struct policy_choice policy_choices[];
extern const size_t policy_choice_count;

/* Two rows that mean nothing together, and why. */
struct policy_exclusion {
	const char *field, *choice, *other_field, *other_choice;
	const char *why;
};
extern const struct policy_exclusion policy_exclusions[];
extern const size_t policy_exclusion_count;

/* Returns what keeps row `a` and row `b`, by their numbers, from standing together; NULL: nothing. */
const struct policy_exclusion *policy_excluded(size_t a, size_t b);

/* A set of rows, by their numbers. */
typedef uint64_t policy_choice_set;
#define POLICY_CHOICES_MAX 64u

static inline int *policy_field(struct policy *policy, const struct policy_choice *row)
{
	return (int *)((char *)policy + row->offset);
}

static inline int policy_value(const struct policy *policy, const struct policy_choice *row)
{
	return *(const int *)((const char *)policy + row->offset);
}

#endif
