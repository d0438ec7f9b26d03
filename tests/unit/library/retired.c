/* SPDX-License-Identifier: MIT */
/*
 * What waits for grace periods never makes a small RAM run out.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softfault.h"

#define MEMORY  ((uint64_t)64 << 20)
#define CPUS    2u
#define REGION  ((uint64_t)2 << 20) /* what a page table covers */
#define REGIONS 7000u               /* a page and a table of each: most of the RAM */
#define ROUNDS  4u

/* What a thread may leave behind (softfault.h, sf_touch()). */
#define BOUND (MEMORY / 16)

struct work {
	struct sf_system *system;
	struct sf_space *space;
	uint64_t step; /* how much each call unmaps */
	int error;
	uint64_t most_retired;
};

static void note_retired(struct work *work)
{
	struct sf_system_statistics statistics;

	sf_system_statistics(work->system, &statistics);
	if (statistics.retired_bytes > work->most_retired)
		work->most_retired = statistics.retired_bytes;
}

/* Takes nearly all of RAM, and gives it back. */
static void *round_of(void *argument)
{
	const int flags = SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_NORESERVE;
	struct work *work = argument;
	uint64_t start, length = REGIONS * REGION;

	work->error = sf_thread_enter(work->system);
	if (work->error)
		return NULL;
	work->error = sf_map(work->space, 0, length, SF_PROT_READ | SF_PROT_WRITE, flags, &start);
	for (uint64_t at = 0; at < length && !work->error; at += REGION)
		work->error = sf_touch(work->space, start + at, SF_WRITE, NULL);
	for (uint64_t at = 0; at < length && !work->error; at += work->step) {
		uint64_t part = length - at < work->step ? length - at : work->step;

		work->error = sf_unmap(work->space, start + at, part);
		note_retired(work);
	}
	sf_thread_exit(work->system);
	return NULL;
}

/* Each round by another thread than the one before: what one leaves behind the next cannot free. */
static void rounds(uint64_t step)
{
	const struct sf_options options = {.memory_bytes = MEMORY, .cpus = CPUS};
	struct work work = {.step = step};

	assert_int_equal(sf_system_create(&options, &work.system, NULL), 0);
	assert_int_equal(sf_thread_enter(work.system), 0);
	assert_int_equal(sf_space_create(work.system, &work.space), 0);
	for (unsigned number = 0; number < ROUNDS; number++) {
		pthread_t thread;

		if (number % 2) {
			assert_int_equal(pthread_create(&thread, NULL, round_of, &work), 0);
			pthread_join(thread, NULL);
		} else {
			round_of(&work);
		}
		assert_int_equal(work.error, 0);
	}
	assert_in_range(work.most_retired, 0, BOUND);
	sf_space_destroy(work.space);
	sf_thread_exit(work.system);
	assert_int_equal(sf_system_check(work.system, NULL), 0);
	sf_system_destroy(work.system);
}

static void one_call_gives_all_back(void **state)
{
	(void)state;
	rounds(REGIONS * REGION);
}

static void many_calls_give_all_back(void **state)
{
	(void)state;
	rounds(REGION);
	rounds(7 * REGION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_call_gives_all_back),
	    cmocka_unit_test(many_calls_give_all_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
