/* SPDX-License-Identifier: MIT */
/*
 * Threads that map, touch, fork, protect, move and unmap in one space at once, with every vma_lookup and
 * page_table_lock; and the same with every access made in a signal handler that interrupted the thread's own
 * code. What they do: tests/common/fault_work.h and fault_hot.h.
 */
#include "tests/common/fault_hot.h"
#include "tests/common/fault_work.h"
#include "tests/unit/mm/fault_fixture.h"

static void on_signal(int number)
{
	(void)number;
	do_job(&jobs[port_cpu()]);
}

static void by_signal(unsigned cpu)
{
	(void)cpu;
	raise(SIGUSR1);
}

static void run(void (*deliver)(unsigned cpu))
{
	const char *wanted = getenv("SEED");
	struct sigaction action = {.sa_handler = on_signal}, before;
	struct policy policy;

	stage.seed = wanted ? strtoull(wanted, NULL, 0) : 20;
	print_message("seed %llu\n", (unsigned long long)stage.seed);
	stage.deliver = deliver;
	stage.rounds = 500;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	for (unsigned number = 0; fault_policy(number, &policy, true); number++) {
		fault_stage_open(&policy);
		assert_int_equal(host_run(fault_work, NULL), 0);
		assert_true(atomic_load(&stage.areas_touched) > 0 && atomic_load(&stage.areas_missed) > 0);
		fault_stage_close();
	}
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static void everything_at_once(void **state)
{
	(void)state;
	run(NULL);
}

static void everything_at_once_from_a_signal_handler(void **state)
{
	(void)state;
	run(by_signal);
}

static void a_hot_page(void **state)
{
	struct policy policy;

	(void)state;
	for (unsigned number = 0; fault_policy(number, &policy, true); number++) {
		for (int zaps = 0; zaps < 2; zaps++) {
			hot_open(&policy, 30 + number, 400, zaps);
			hot.pause = host_yield;
			assert_int_equal(host_run(hot_work, NULL), 0);
			hot_close();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(everything_at_once),
	    fault_test(everything_at_once_from_a_signal_handler),
	    fault_test(a_hot_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
