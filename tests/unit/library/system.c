/* SPDX-License-Identifier: MIT */
/*
 * Systems and the slots of threads, through softfault.h alone.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "softfault.h"

#define RW    (SF_PROT_READ | SF_PROT_WRITE)
#define ANON  (SF_MAP_PRIVATE | SF_MAP_ANONYMOUS)
#define MEBI  ((uint64_t)1 << 20)
#define SLOTS 3

static struct sf_system *make_system(unsigned cpus)
{
	const struct sf_options options = {.memory_bytes = 4 * MEBI, .cpus = cpus};
	struct sf_system *system;
	const char *reason;

	if (sf_system_create(&options, &system, &reason))
		fail_msg("%s", reason);
	return system;
}

static void options_that_cannot_be(void **state)
{
	static const struct {
		struct sf_options options;
		const char *word; /* that the reason holds */
	} cases[] = {
	    {{.memory_bytes = 0}, "memory_bytes"},
	    {{.memory_bytes = MEBI - SF_PAGE_SIZE}, "memory_bytes"},
	    {{.memory_bytes = MEBI + 1}, "memory_bytes"},
	    {{.memory_bytes = MEBI, .cpus = 1024}, "cpus"},
	    {{.memory_bytes = MEBI, .policy = "defualt"}, "defualt"},
	    {{.memory_bytes = MEBI, .policy = "default vma_lookup=fastest"}, "fastest"},
	    {{.memory_bytes = MEBI, .map_base = 12345}, "whole pages"},
	    {{.memory_bytes = MEBI, .map_base = SF_ADDRESS_END + SF_PAGE_SIZE}, "at most"},
	    {{.memory_bytes = MEBI, .map_min = 1}, "whole pages"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sf_system *system;
		const char *reason;

		assert_int_equal(sf_system_create(&cases[i].options, &system, &reason), -EINVAL);
		if (!strstr(reason, cases[i].word) || strchr(reason, '\n'))
			fail_msg("case %zu: \"%s\" does not say \"%s\" in one line", i, reason,
				 cases[i].word);
		assert_int_equal(sf_system_create(&cases[i].options, &system, NULL), -EINVAL);
	}
}

struct visitor {
	struct sf_system *system;
	pthread_barrier_t *inside, *done;
	int error;
};

/* Takes a slot, and gives it back when all have tried. */
static void *visit(void *argument)
{
	struct visitor *visitor = argument;

	visitor->error = sf_thread_enter(visitor->system);
	pthread_barrier_wait(visitor->inside);
	pthread_barrier_wait(visitor->done);
	if (!visitor->error)
		sf_thread_exit(visitor->system);
	return NULL;
}

/* One thread more than there are slots, again and again: one of them gets none, and no slot is lost. */
static void slots_run_out_and_come_back(void **state)
{
	struct sf_system *system = make_system(SLOTS);
	pthread_barrier_t inside, done;

	(void)state;
	pthread_barrier_init(&inside, NULL, SLOTS + 2);
	pthread_barrier_init(&done, NULL, SLOTS + 2);
	for (int round = 0; round < 50; round++) {
		struct visitor visitor[SLOTS + 1];
		pthread_t thread[SLOTS + 1];
		unsigned refused = 0;

		for (unsigned i = 0; i <= SLOTS; i++) {
			visitor[i] = (struct visitor){.system = system, .inside = &inside, .done = &done};
			assert_int_equal(pthread_create(&thread[i], NULL, visit, &visitor[i]), 0);
		}
		pthread_barrier_wait(&inside);
		assert_int_equal(sf_thread_enter(system), -EAGAIN);
		pthread_barrier_wait(&done);
		for (unsigned i = 0; i <= SLOTS; i++) {
			pthread_join(thread[i], NULL);
			assert_true(!visitor[i].error || visitor[i].error == -EAGAIN);
			refused += visitor[i].error != 0;
		}
		assert_int_equal(refused, 1);
	}
	pthread_barrier_destroy(&inside);
	pthread_barrier_destroy(&done);
	assert_int_equal(sf_thread_enter(system), 0);
	sf_thread_exit(system);
	sf_system_destroy(system);
}

static void a_thread_may_enter_more_than_once(void **state)
{
	struct sf_system *system = make_system(1);
	struct sf_space *space;

	(void)state;
	assert_int_equal(sf_thread_enter(system), 0);
	assert_int_equal(sf_thread_enter(system), 0);
	sf_thread_exit(system);
	assert_int_equal(sf_space_create(system, &space), 0);
	sf_space_destroy(space);
	sf_thread_exit(system);
	sf_system_destroy(system);
}

/* RAM and spaces are each system's own; the slots are shared. */
static void systems_stand_side_by_side(void **state)
{
	const struct sf_options more = {.memory_bytes = MEBI, .cpus = SLOTS + 1};
	struct sf_system *first = make_system(SLOTS), *second = make_system(SLOTS - 1), *third;
	struct sf_system_statistics statistics;
	struct sf_space *one, *two;
	const char *reason;
	uint64_t address;
	char byte;

	(void)state;
	assert_int_equal(sf_system_create(&more, &third, &reason), -EINVAL);
	assert_non_null(strstr(reason, "slots"));
	third = make_system(0);
	sf_system_destroy(third);

	assert_int_equal(sf_thread_enter(first), 0);
	assert_int_equal(sf_space_create(first, &one), 0);
	assert_int_equal(sf_space_create(second, &two), 0);
	assert_int_equal(sf_map(one, 0, SF_PAGE_SIZE, RW, ANON, &address), 0);
	assert_int_equal(sf_write(one, address, "a", 1, NULL), 1);
	assert_int_equal(sf_read(two, address, &byte, 1, NULL), 0);
	sf_system_statistics(first, &statistics);
	assert_int_equal(statistics.anonymous_frames, 1);
	sf_system_statistics(second, &statistics);
	assert_int_equal(statistics.anonymous_frames, 0);
	sf_space_destroy(one);
	sf_space_destroy(two);
	sf_thread_exit(first);

	/* The first may go first; its slots stay. */
	sf_system_destroy(first);
	assert_int_equal(sf_thread_enter(second), 0);
	sf_thread_exit(second);
	sf_system_destroy(second);
}

static void *destroy(void *argument)
{
	sf_system_destroy(argument);
	return NULL;
}

/* The next one has as many slots as it asks for, and any thread may end a system. */
static void systems_come_and_go(void **state)
{
	(void)state;
	for (unsigned cpus = 1; cpus <= 64; cpus *= 4) {
		struct sf_system *system = make_system(cpus);
		const char *reason;
		pthread_t thread;

		assert_int_equal(sf_system_check(system, &reason), 0);
		assert_int_equal(pthread_create(&thread, NULL, destroy, system), 0);
		pthread_join(thread, NULL);
	}
}

static void *all_without_a_slot(void *argument)
{
	const struct sf_options options = {.memory_bytes = MEBI};
	struct sf_system *first = argument, *own;
	const char *reason;

	assert_int_equal(sf_thread_enter(first), -EAGAIN);
	assert_int_equal(sf_system_create(&options, &own, &reason), 0);
	assert_int_equal(sf_system_check(own, &reason), 0);
	assert_int_equal(sf_system_check(first, &reason), 0);
	sf_system_destroy(own);
	sf_system_destroy(first);
	return NULL;
}

/* Others keep all slots for as long as they like: systems are made, checked and ended beside them. */
static void systems_need_no_slot(void **state)
{
	struct sf_system *first = make_system(1), *second = make_system(1);
	pthread_t thread[2];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct sf_system *third = make_system(0);

		assert_int_equal(sf_thread_enter(second), 0);
		assert_int_equal(pthread_create(&thread[0], NULL, all_without_a_slot, first), 0);
		assert_int_equal(pthread_create(&thread[1], NULL, all_without_a_slot, third), 0);
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
		sf_thread_exit(second);
		first = make_system(1);
	}
	sf_system_destroy(second);
	/* The last one may be ended by a thread that never had a slot. */
	assert_int_equal(pthread_create(&thread[0], NULL, destroy, first), 0);
	pthread_join(thread[0], NULL);
	first = make_system(SLOTS);
	sf_system_destroy(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(options_that_cannot_be),
	    cmocka_unit_test(slots_run_out_and_come_back),
	    cmocka_unit_test(a_thread_may_enter_more_than_once),
	    cmocka_unit_test(systems_stand_side_by_side),
	    cmocka_unit_test(systems_come_and_go),
	    cmocka_unit_test(systems_need_no_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
