/* SPDX-License-Identifier: MIT */
/*
 * MCS locks within each other: a CPU's nodes are used by level, freed in any order, and not more than there
 * are.
 */
#include "base/random.h"
#include "host/cpu.h"
#include "port/panic.h"
#include "sync/mcs_lock.h"
#include "tests/common/death.h"
#include "tests/common/on_cpus.h"

#define CPUS   4u
#define ROUNDS 3000u

/* In this order they are taken; one more than a CPU may hold. */
static const enum lock_rank ranks[MCS_LEVELS + 1] = {
    LOCK_RANK_TEST_OUTER, LOCK_RANK_SPACE, LOCK_RANK_TEST_INNER, LOCK_RANK_TEST_INNERMOST, LOCK_RANK_NONE,
};

static struct lock_nodes nodes;
static struct mcs_lock locks[MCS_LEVELS + 1];
static uint64_t counters[MCS_LEVELS]; /* each by its lock */
static uint64_t seed;

static void open_machine(unsigned cpus)
{
	if (host_open(cpus) || lock_nodes_open(&nodes))
		_exit(1);
	for (unsigned i = 0; i <= MCS_LEVELS; i++)
		mcs_lock_init(&locks[i], ranks[i], &nodes);
}

/* Takes a random set of the locks in their order and releases it in a random one. */
static void nest(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, seed + cpu);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned set = (unsigned)random_below(&random, 1u << MCS_LEVELS);

		for (unsigned i = 0; i < MCS_LEVELS; i++) {
			if (set & (1u << i)) {
				mcs_lock(&locks[i]);
				counters[i]++;
			}
		}
		while (set) {
			unsigned i = (unsigned)random_below(&random, MCS_LEVELS);

			if (set & (1u << i)) {
				counters[i]++;
				mcs_unlock(&locks[i]);
				set &= ~(1u << i);
			}
		}
	}
}

static void sets_of_locks(void **state)
{
	uint64_t expected[MCS_LEVELS] = {0};

	(void)state;
	seed = test_seed() * CPUS;
	open_machine(CPUS);
	run_cpus(nest, NULL);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		struct random random;

		random_seed(&random, seed + cpu);
		for (unsigned round = 0; round < ROUNDS; round++) {
			unsigned set = (unsigned)random_below(&random, 1u << MCS_LEVELS);

			for (unsigned i = 0; i < MCS_LEVELS; i++)
				expected[i] += set & (1u << i) ? 2 : 0;
			while (set)
				set &= ~(1u << random_below(&random, MCS_LEVELS));
		}
	}
	for (unsigned i = 0; i < MCS_LEVELS; i++)
		assert_int_equal(counters[i], expected[i]);
	lock_nodes_close(&nodes);
	host_close();
}

static void hold_too_many(void *unused)
{
	(void)unused;
	open_machine(1);
	for (unsigned i = 0; i <= MCS_LEVELS; i++)
		mcs_lock(&locks[i]);
}

static void release_not_held(void *unused)
{
	(void)unused;
	open_machine(1);
	mcs_unlock(&locks[0]);
}

static void misuse_is_reported(void **state)
{
	(void)state;
	expect_death(hold_too_many, NULL, "sync/mcs_lock.h", "level < MCS_LEVELS");
	expect_death(release_not_held, NULL, "sync/mcs_lock.h", "level < MCS_LEVELS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sets_of_locks),
	    cmocka_unit_test(misuse_is_reported),
	};

	return cmocka_run_group_tests_name("sync/mcs_nesting", tests, NULL, NULL);
}
