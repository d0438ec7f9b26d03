/* SPDX-License-Identifier: MIT */
/*
 * Faults on an object against those who take its pages away, on the virtual machine: small windows are hit
 * there that real threads hit seldom, and a seed hits them again.
 */
#include "tests/vsmp/fixture.h"

#define CPUS  8u
#define PAGES 6u

#include "tests/common/object_work.h"

#define SEEDS 40u

static size_t policy_number;
static bool is_file;
static uint64_t touched, missed, reclaimed;

static void set_up(void *argument)
{
	(void)argument;
	work.steps = 40;
	object_work_open(work_policies[policy_number], is_file);
}

static void tear_down(void *argument)
{
	(void)argument;
	touched += atomic_load(&work.touched);
	missed += atomic_load(&work.missed);
	reclaimed += atomic_load(&work.reclaimed);
	object_work_close();
}

static void run(void)
{
	struct message why = {""};

	/* Two sockets: what another one has takes longer to come. */
	fixture_create(2, CPUS / 2, 1, CPUS, work.seed);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(object_work, NULL, 1000, &why) ||
	    vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s, seed %llu: %s\n%s", work_policies[policy_number], (unsigned long long)work.seed,
			 why.text, vsmp_deadlock_report() ? vsmp_deadlock_report() : "");
	vsmp_destroy();
}

static void run_all(void)
{
	const char *wanted = getenv("SEED");
	uint64_t first = wanted ? strtoull(wanted, NULL, 0) : 1;

	print_message("seed %llu\n", (unsigned long long)first);
	touched = missed = reclaimed = 0;
	for (policy_number = 0; policy_number < WORK_POLICIES; policy_number++)
		for (work.seed = first; work.seed < first + SEEDS; work.seed++)
			run();
	assert_true(touched > 10000 && missed > 1000 && reclaimed > 50);
}

static void shared_memory_is_cut_while_it_is_touched(void **state)
{
	(void)state;
	is_file = false;
	run_all();
}

static void a_file_is_cut_and_written_while_it_is_touched(void **state)
{
	(void)state;
	is_file = true;
	run_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shared_memory_is_cut_while_it_is_touched),
	    cmocka_unit_test(a_file_is_cut_and_written_while_it_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
