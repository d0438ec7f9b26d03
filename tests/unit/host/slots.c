/* SPDX-License-Identifier: MIT */
/*
 * Threads that come and go: slots, and the systems that they enter.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "host/memory.h"
#include "host/slots.h"
#include "port/cpu.h"
#include "softfault.h"

/* What another thread finds: its slot's number, or a negative errno. */
static void *take_a_slot(void *argument)
{
	int *found = argument;

	*found = host_slot_take();
	if (*found)
		return NULL;
	*found = (int)port_cpu();
	host_slot_give();
	return NULL;
}

static int slot_of_a_thread(void)
{
	pthread_t thread;
	int found = 0;

	assert_int_equal(pthread_create(&thread, NULL, take_a_slot, &found), 0);
	pthread_join(thread, NULL);
	return found;
}

static void slots_are_taken_and_given_back(void **state)
{
	(void)state;
	assert_int_equal(host_slot_take(), -EAGAIN);
	assert_int_equal(host_slots_open(2), 0);
	assert_true(host_slot_held());
	assert_int_equal(port_cpu(), 0);
	assert_int_equal(slot_of_a_thread(), 1);
	/* once more, and only the last giving back counts */
	assert_int_equal(host_slot_take(), 0);
	host_slot_give();
	assert_int_equal(port_cpu(), 0);
	host_slot_give();
	assert_false(host_slot_held());
	assert_int_equal(slot_of_a_thread(), 0);
	assert_int_equal(host_slot_take(), 0);
	assert_int_equal(port_cpu(), 0);
	host_slots_close();
	assert_false(host_slot_held());
	assert_int_equal(slot_of_a_thread(), -EAGAIN);
	assert_int_equal(host_slots_open(1), 0);
	assert_int_equal(slot_of_a_thread(), -EAGAIN);
	host_slots_close();
	assert_int_equal(host_slots_open(PORT_CPUS_MAX), -EINVAL);
}

static void systems_share_the_machine(void **state)
{
	const struct sf_options options = {.memory_bytes = 1 << 20, .cpus = 2};
	const struct sf_options more = {.memory_bytes = 1 << 20, .cpus = 3};
	const struct sf_options any = {.memory_bytes = 1 << 20};
	struct sf_system *system, *other;
	struct sf_space *space;
	const char *reason;
	uint64_t mapped;

	(void)state;
	assert_int_equal(sf_system_create(&options, &system, &reason), 0);
	assert_false(host_slot_held());
	assert_int_equal(sf_system_create(&more, &other, &reason), -EINVAL);
	assert_true(reason[0]);
	assert_int_equal(sf_system_create(&any, &other, &reason), 0);
	assert_int_equal(sf_thread_enter(system), 0);
	assert_int_equal(sf_thread_enter(other), 0);
	assert_int_equal(sf_space_create(system, &space), 0);
	assert_int_equal(sf_map(space, 0, 1, SF_PROT_READ, SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &mapped), 0);
	assert_int_equal(sf_touch(space, mapped, SF_READ, NULL), 0);
	sf_thread_exit(other);
	assert_int_equal(sf_system_check(system, &reason), 0);
	sf_space_destroy(space);
	sf_thread_exit(system);
	/* The first goes first; the machine stays for the other. */
	sf_system_destroy(system);
	assert_int_equal(sf_system_check(other, NULL), 0);
	sf_system_destroy(other);
	assert_int_equal(host_memory_in_use_bytes(), 0);
	/* Now there may be more. */
	assert_int_equal(sf_system_create(&more, &system, NULL), 0);
	sf_system_destroy(system);
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

static void impossible_options_are_refused(void **state)
{
	static const struct sf_options bad[] = {
	    {.memory_bytes = 0},
	    {.memory_bytes = (1 << 20) - 4096},
	    {.memory_bytes = (1 << 20) + 1},
	    {.memory_bytes = UINT64_MAX - 4095},
	    {.memory_bytes = 1 << 20, .cpus = 1024},
	    {.memory_bytes = 1 << 20, .policy = "base_1999"},
	    {.memory_bytes = 1 << 20, .policy = "default vma_lookup=best"},
	    {.memory_bytes = 1 << 20, .map_base = 4097},
	    {.memory_bytes = 1 << 20, .map_base = SF_ADDRESS_END},
	    {.memory_bytes = 1 << 20, .map_min = 1},
	};
	struct sf_system *system;
	const char *reason;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		reason = NULL;
		assert_int_equal(sf_system_create(&bad[i], &system, &reason), -EINVAL);
		assert_true(reason && reason[0]);
		assert_int_equal(host_memory_in_use_bytes(), 0);
	}
}

static void no_memory_for_a_system(void **state)
{
	const struct sf_options options = {.memory_bytes = 1 << 20, .cpus = 1};
	struct sf_system *system;
	unsigned failures = 0;
	int error;

	(void)state;
	for (;; failures++) {
		const char *reason = NULL;

		host_memory_fail_after(failures);
		error = sf_system_create(&options, &system, &reason);
		host_memory_fail_never();
		if (!error)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_true(reason && reason[0]);
		assert_int_equal(host_memory_in_use_bytes(), 0);
	}
	assert_true(failures > 8);
	sf_system_destroy(system);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slots_are_taken_and_given_back),
	    cmocka_unit_test(systems_share_the_machine),
	    cmocka_unit_test(impossible_options_are_refused),
	    cmocka_unit_test(no_memory_for_a_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
