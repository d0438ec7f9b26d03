/* SPDX-License-Identifier: MIT */
/*
 * A real machine around each test of faults, and each test for every combination.
 */
#ifndef TESTS_UNIT_MM_FAULT_FIXTURE_H
#define TESTS_UNIT_MM_FAULT_FIXTURE_H

#include "host/cpu.h"
#include "host/memory.h"
#include "tests/common/fault_policy.h"

static inline int fault_machine_open(void **state)
{
	(void)state;
	return host_open(4);
}

/* Nothing that mm/ allocated may be left. */
static inline int fault_machine_close(void **state)
{
	(void)state;
	host_memory_fail_never();
	host_close();
	if (host_memory_in_use_bytes())
		print_message("%zu bytes are still in use\n", host_memory_in_use_bytes());
	return host_memory_in_use_bytes() ? -1 : 0;
}

#define fault_test(function) \
	cmocka_unit_test_setup_teardown(function, fault_machine_open, fault_machine_close)

/* Runs body(system) for every combination. */
static inline void for_each_policy(uint64_t frames, void (*body)(struct sf_system *system))
{
	struct policy policy;

	for (unsigned number = 0; fault_policy(number, &policy, false); number++) {
		struct sf_system *system = fault_system(&policy, frames);

		body(system);
		fault_system_end(system);
	}
}

#endif
