/* SPDX-License-Identifier: MIT */
/*
 * What the tests of mm/ share: a host machine around each test, and checks that say what is broken.
 */
#ifndef TESTS_UNIT_MM_FIXTURE_H
#define TESTS_UNIT_MM_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "host/cpu.h"
#include "host/memory.h"
#include "mm/system/system.h"

#define PAGE PORT_PAGE_SIZE

static const enum policy_memtype all_memtype_policies[] = {
    POLICY_MEMTYPE_CMPXCHG,
    POLICY_MEMTYPE_SPIN,
    POLICY_MEMTYPE_RWLOCK,
};

/* The seed of a randomised test: SEED of the environment, or the one given. Printed, so that it can be had
 * again. */
static inline uint64_t test_seed(uint64_t seed)
{
	const char *wanted = getenv("SEED");

	if (wanted)
		seed = strtoull(wanted, NULL, 0);
	print_message("seed %llu\n", (unsigned long long)seed);
	return seed;
}

static inline int machine_open(void **state)
{
	(void)state;
	return host_open(2);
}

/* Nothing that mm/ allocated may be left. */
static inline int machine_close(void **state)
{
	(void)state;
	host_memory_fail_never();
	host_close();
	if (host_memory_in_use_bytes())
		print_message("%zu bytes are still in use\n", host_memory_in_use_bytes());
	return host_memory_in_use_bytes() ? -1 : 0;
}

static inline struct sf_system *system_open(enum policy_memtype memtype, uint64_t own, uint64_t exported)
{
	struct system_config config = {
	    .policy.memtype = memtype, .own_frames = own, .exported_frames = exported};
	struct sf_system *system = NULL;
	struct message why = {""};

	if (system_create(&config, &system, &why))
		fail_msg("%s", why.text);
	return system;
}

/* Makes an empty space; NULL when that fails. */
static inline struct sf_space *space_open(struct sf_system *system)
{
	struct sf_space *space;

	return sf_space_create(system, &space) ? NULL : space;
}

/* Touches the byte at `address`. Returns as sf_touch(), but -EACCES for what the protection forbids. */
static inline int touch(struct sf_space *space, uint64_t address, bool write)
{
	struct sf_signal signal = {0};
	int error = sf_touch(space, address, write ? SF_WRITE : SF_READ, &signal);

	return error == -EFAULT && signal.code == SEGV_ACCERR ? -EACCES : error;
}

static inline void assert_system_good(struct sf_system *system)
{
	struct message why = {""};

	if (system_check(system, &why))
		fail_msg("%s", why.text);
}

#define mm_test(function) cmocka_unit_test_setup_teardown(function, machine_open, machine_close)

#endif
