/* SPDX-License-Identifier: MIT */
/*
 * Swapped pages under CPUs that read, write, fork, drop and reclaim them, on the virtual machine: small
 * windows are hit there that real threads hit seldom, and a seed hits them again.
 */
#include "tests/vsmp/fixture.h"

#include <stdlib.h>

#include "tests/common/swap_work.h"

#define SEEDS 100u

static void set_up(void *argument)
{
	(void)argument;
	swap_work_open(1u << swap_work.seed % 4, NULL);
}

static void check(void *argument)
{
	const char **wrong = argument;

	*wrong = swap_work_check();
	if (!*wrong)
		*wrong = swap_work_close();
}

static void run(uint64_t seed, unsigned fails)
{
	struct message why = {""};
	const char *wrong = NULL;

	/* Three sockets of two: what another one has takes longer to come. */
	fixture_create(3, WORK_CPUS / 3, 1, WORK_CPUS, seed);
	swap_work.seed = seed;
	if (vsmp_setup(set_up, NULL, &why))
		fail_msg("seed %llu: %s", (unsigned long long)seed, why.text);
	swap_work_arm(120, seed, fails);
	if (vsmp_run(swap_work_run, NULL, 1000, &why))
		fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, why.text,
			 vsmp_deadlock_report() ? vsmp_deadlock_report() : "");
	if (swap_work.outs == 0 || swap_work.ins == 0)
		fail_msg("seed %llu: %llu pages out, %llu in", (unsigned long long)seed,
			 (unsigned long long)swap_work.outs, (unsigned long long)swap_work.ins);
	if (vsmp_setup(check, &wrong, &why) || wrong)
		fail_msg("seed %llu: %s", (unsigned long long)seed, wrong ? wrong : why.text);
	vsmp_destroy();
}

static void run_all(unsigned fails)
{
	const char *wanted = getenv("SEED");
	uint64_t first = wanted ? strtoull(wanted, NULL, 0) : 1;

	print_message("seed %llu\n", (unsigned long long)first);
	for (uint64_t seed = first; seed < first + SEEDS; seed++)
		run(seed, fails);
}

static void no_byte_is_lost(void **state)
{
	(void)state;
	run_all(0);
}

static void no_byte_is_lost_when_transfers_fail(void **state)
{
	(void)state;
	run_all(16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_byte_is_lost),
	    cmocka_unit_test(no_byte_is_lost_when_transfers_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
