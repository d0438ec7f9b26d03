/* SPDX-License-Identifier: MIT */
/*
 * Checks that are made of two operations (tests/explore/operations.h), one on each of two CPUs. The model is
 * what the operations come to when one follows the other, in any order: what they returned, the mappings, the
 * entries and the contents of the pages, in each space that there is. Of an operation of many steps only the
 * mappings count, with their rights; system_check() holds the entries against these.
 */
#ifndef TESTS_EXPLORE_PAIR_H
#define TESTS_EXPLORE_PAIR_H

#include "tests/explore/operations.h"

struct pair {
	scene *scene;
	const struct operation *operation[2];
};

/* A check's parts, for a pair. */
int pair_setup(const struct pair *pair, struct message *why);
void pair_run(const struct pair *pair, unsigned actor);
bool pair_holds(const struct pair *pair, struct message *why);
void pair_teardown(void);

#endif
