/* SPDX-License-Identifier: MIT */
/*
 * A limit refuses nobody for whom there is room: neither for what other CPUs have charged ahead, nor for what
 * they have tried to.
 */
#include "tests/vsmp/fixture.h"

#include "tests/common/charge_ground.h"

#define CPUS   16u
#define PAGES  40u /* of each CPU */
#define ROUNDS 30u

static struct ground ground;
static struct sf_group *group;
static unsigned policy_number;
static uint64_t spare; /* pages below the limit that nobody wants */
static unsigned refused[CPUS];
static uint64_t failures;

static void set_up(void *argument)
{
	struct policy policy = charge_policy(policy_number);

	(void)argument;
	ground_open(&ground, &policy, 2 * CPUS * PAGES);
	group = group_create(ground.groups->root);
	assert_non_null(group);
	assert_int_equal(group_set_limit(group, CPUS * PAGES + spare), 0);
}

/* All have all their pages at the same time, and nobody wants more. */
static void body(unsigned cpu, void *argument)
{
	struct charge charge = {.group = group};
	struct page *pages[PAGES];

	(void)argument;
	refused[cpu] = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned count = 0;

		while (count < PAGES && (pages[count] = charged_page_alloc(ground.frames, &charge)))
			count++;
		refused[cpu] += count < PAGES;
		vsmp_barrier();
		release_pages(ground.frames, pages, count);
		vsmp_barrier();
	}
}

static void tear_down(void *argument)
{
	(void)argument;
	failures += atomic_load(&group->memory.failures);
	assert_int_equal(group_destroy(group), 0);
	ground_close(&ground);
}

static void refuses_nobody_for_whom_there_is_room(void **state)
{
	struct message why = {""};

	(void)state;
	/* Those of one way to release. */
	for (policy_number = 0; policy_number < CHARGE_POLICIES / 3; policy_number++)
		for (spare = 0; spare <= 64; spare += 64) {
			fixture_create(2, CPUS / 2, 1, CPUS, 1);
			if (vsmp_setup(set_up, NULL, &why) || vsmp_run(body, NULL, 1000, &why) ||
			    vsmp_setup(tear_down, NULL, &why))
				fail_msg("%s", why.text);
			vsmp_destroy();
			for (unsigned cpu = 0; cpu < CPUS; cpu++)
				if (refused[cpu])
					fail_msg("policy %u, %u pages to spare: CPU %u was refused %u times",
						 policy_number, (unsigned)spare, cpu, refused[cpu]);
		}
	/* The limit was met. */
	assert_true(failures > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refuses_nobody_for_whom_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
