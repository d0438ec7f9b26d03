/* SPDX-License-Identifier: MIT */
/*
 * Faults against those who take memory away, on the virtual machine: small windows are hit there that real
 * threads on few processors hit once in a day, and a seed hits them again.
 */
#include "tests/vsmp/fixture.h"

#define HOT_CPUS 16u

#include "tests/common/fault_hot.h"
#include "tests/common/fault_work.h"

#define SEEDS 3u

static unsigned policy_number;
static uint64_t seed;
static bool zaps;

static void set_up_hot(void *argument)
{
	struct policy policy;

	(void)argument;
	assert_true(fault_policy(policy_number, &policy, false));
	hot_open(&policy, seed, 40, zaps);
}

static void tear_down_hot(void *argument)
{
	(void)argument;
	hot_close();
}

static void set_up_work(void *argument)
{
	struct policy policy;

	(void)argument;
	assert_true(fault_policy(policy_number, &policy, false));
	stage.seed = seed;
	stage.rounds = 60;
	fault_stage_open(&policy);
}

static void tear_down_work(void *argument)
{
	(void)argument;
	fault_stage_close();
}

static void run(unsigned cpus, void (*set_up)(void *), void (*body)(unsigned, void *),
		void (*tear_down)(void *))
{
	struct message why = {""};

	/* Two sockets: what another one has takes longer to come. */
	fixture_create(2, cpus / 2, 1, cpus, seed);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(body, NULL, 1000, &why) ||
	    vsmp_setup(tear_down, NULL, &why))
		fail_msg("policy %u, seed %llu: %s\n%s", policy_number, (unsigned long long)seed, why.text,
			 vsmp_deadlock_report() ? vsmp_deadlock_report() : "");
	vsmp_destroy();
}

static void a_hot_page(void **state)
{
	(void)state;
	for (policy_number = 0; policy_number < LOOKUPS * LOCKS; policy_number++)
		for (seed = 1; seed <= SEEDS; seed++)
			for (int round = 0; round < 2; round++) {
				zaps = round;
				run(HOT_CPUS, set_up_hot, hot_work, tear_down_hot);
			}
}

static void everything_at_once(void **state)
{
	(void)state;
	for (policy_number = 0; policy_number < LOOKUPS * LOCKS; policy_number++)
		for (seed = 1; seed <= SEEDS; seed++)
			run(THREADS, set_up_work, fault_work, tear_down_work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_hot_page),
	    cmocka_unit_test(everything_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
