/* SPDX-License-Identifier: MIT */
/*
 * The checks of PAIRS and OBJECT_PAIRS in tests/explore/pair_list.h.
 */
#include "tests/explore/pair.h"
#include "tests/explore/pair_list.h"

#include <stddef.h>

#define PAIR(scene, first, second)                                                                         \
	static const struct pair scene##_##first##_##second = {scene_##scene,                              \
							       {&operation_##first, &operation_##second}}; \
	static int setup_##scene##_##first##_##second(struct message *why)                                 \
	{                                                                                                  \
		return pair_setup(&scene##_##first##_##second, why);                                       \
	}                                                                                                  \
	static void first_##scene##_##first##_##second(void)                                               \
	{                                                                                                  \
		pair_run(&scene##_##first##_##second, 0);                                                  \
	}                                                                                                  \
	static void second_##scene##_##first##_##second(void)                                              \
	{                                                                                                  \
		pair_run(&scene##_##first##_##second, 1);                                                  \
	}                                                                                                  \
	static bool holds_##scene##_##first##_##second(struct message *why)                                \
	{                                                                                                  \
		return pair_holds(&scene##_##first##_##second, why);                                       \
	}                                                                                                  \
	const struct check pair_##scene##_##first##_##second##_check;                                      \
	const struct check pair_##scene##_##first##_##second##_check = {                                   \
	    .name = #scene "-" #first "-" #second,                                                         \
	    .summary = #first " and " #second ", both of one page: " #scene,                               \
	    .setup = setup_##scene##_##first##_##second,                                                   \
	    .body = {first_##scene##_##first##_##second, second_##scene##_##first##_##second},             \
	    .holds = holds_##scene##_##first##_##second,                                                   \
	    .teardown = pair_teardown,                                                                     \
	    .variants = variants_pairwise,                                                                 \
	};

PAIRS(PAIR)
OBJECT_PAIRS(PAIR)
