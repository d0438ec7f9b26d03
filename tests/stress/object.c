/* SPDX-License-Identifier: MIT */
/*
 * Threads that touch one object while another truncates it, punches holes, moves its mappings and forks:
 * tests/common/object_work.h. After each round nothing runs, and all must fit.
 */
#include "tests/common/object_work.h"
#include "tests/unit/mm/fault_fixture.h"

#define ROUNDS 40u

static void run(bool is_file)
{
	const char *wanted = getenv("SEED");
	uint64_t seed = wanted ? strtoull(wanted, NULL, 0) : 7;

	print_message("seed %llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < WORK_POLICIES; i++) {
		print_message("%s\n", work_policies[i]);
		object_work_open(work_policies[i], is_file);
		for (unsigned round = 0; round < ROUNDS; round++) {
			work.seed = seed + round;
			work.steps = 60;
			assert_int_equal(host_run(object_work, NULL), 0);
			assert_good(work.system);
		}
		assert_true(atomic_load(&work.touched) > 0 && atomic_load(&work.missed) > 0 &&
			    atomic_load(&work.reclaimed) > 0);
		print_message("%llu refused\n", (unsigned long long)atomic_load(&work.refused));
		object_work_close();
	}
}

static void shared_memory_is_cut_while_it_is_touched(void **state)
{
	(void)state;
	run(false);
}

static void a_file_is_cut_and_written_while_it_is_touched(void **state)
{
	(void)state;
	run(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(shared_memory_is_cut_while_it_is_touched),
	    fault_test(a_file_is_cut_and_written_while_it_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
