/* SPDX-License-Identifier: MIT */
/*
 * Runs a test's body on several CPUs of the real machine. Bodies check by invariant(): an assertion of cmocka
 * only works in the thread that runs the test.
 */
#ifndef TESTS_COMMON_ON_CPUS_H
#define TESTS_COMMON_ON_CPUS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/cpu.h"

/* The seed of this run: SEED in the environment, or 1. Printed, so that a failure can be had again. */
static inline uint64_t test_seed(void)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	print_message("seed %" PRIu64 "\n", seed);
	return seed;
}

/* Runs body on each CPU of the machine that is open. */
static inline void run_cpus(void (*body)(unsigned cpu, void *argument), void *argument)
{
	assert_int_equal(host_run(body, argument), 0);
}

#endif
