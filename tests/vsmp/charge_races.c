/* SPDX-License-Identifier: MIT */
/*
 * tests/common/charge_work.h on the virtual machine, where every seed is another interleaving.
 */
#include "tests/vsmp/fixture.h"

#include "tests/common/charge_work.h"

#define SEEDS 2u

static struct charge_stage stage;
static unsigned policy_number;
static uint64_t seed;

static void set_up(void *argument)
{
	struct policy policy = charge_policy(policy_number);

	(void)argument;
	charge_stage_open(&stage, &policy);
	stage.seed = seed;
	stage.rounds = 400;
}

static void tear_down(void *argument)
{
	(void)argument;
	charge_stage_close(&stage);
}

static void counts_stay_exact(void **state)
{
	unsigned refused = 0, destroyed = 0;

	(void)state;
	for (policy_number = 0; policy_number < CHARGE_POLICIES; policy_number++)
		for (seed = 1; seed <= SEEDS; seed++) {
			struct message why = {""};

			fixture_create(2, CHARGE_CPUS / 2, 1, CHARGE_CPUS, seed);
			if (vsmp_setup(set_up, NULL, &why) || vsmp_run(charge_work, &stage, 1000, &why) ||
			    vsmp_setup(tear_down, NULL, &why))
				fail_msg("policy %u, seed %llu: %s", policy_number, (unsigned long long)seed,
					 why.text);
			vsmp_destroy();
			refused += atomic_load(&stage.refused);
			destroyed += atomic_load(&stage.destroyed);
		}
	print_message("%u refused, %u groups destroyed\n", refused, destroyed);
	assert_true(refused > 100 && destroyed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_stay_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
