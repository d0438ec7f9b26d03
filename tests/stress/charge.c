/* SPDX-License-Identifier: MIT */
/*
 * tests/common/charge_work.h on real threads.
 */
#include "tests/common/charge_work.h"
#include "tests/unit/mm/fixture.h"

static void counts_stay_exact(void **state)
{
	static struct charge_stage stage;
	uint64_t seed = test_seed(1);

	(void)state;
	for (unsigned number = 0; number < CHARGE_POLICIES; number += 7) {
		struct policy policy = charge_policy(number);

		charge_stage_open(&stage, &policy);
		stage.seed = seed + number;
		stage.rounds = 2500;
		assert_int_equal(host_run(charge_work, &stage), 0);
		print_message("policy %u: %u refused, %u groups destroyed\n", number,
			      atomic_load(&stage.refused), atomic_load(&stage.destroyed));
		charge_stage_close(&stage);
	}
}

static int open_cpus(void **state)
{
	(void)state;
	return host_open(CHARGE_CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_stay_exact),
	};

	return cmocka_run_group_tests(tests, open_cpus, machine_close);
}
