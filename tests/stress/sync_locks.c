/* SPDX-License-Identifier: MIT */
/*
 * Many threads, several locks of all kinds, taken within each other in the order of their ranks, by trylock
 * against it, with yields in between. Made for ThreadSanitizer and the lock-rank checker.
 */
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "host/memory.h"
#include "port/panic.h"
#include "tests/common/locks.h"
#include "tests/common/on_cpus.h"

#define CPUS   8u
#define ROUNDS 1500u
#define DEPTH  3u

static const enum lock_rank ranks[DEPTH] = {LOCK_RANK_TEST_OUTER, LOCK_RANK_TEST_INNER,
					    LOCK_RANK_TEST_INNERMOST};

/* What one lock protects: equal words outside a writer's section. */
struct pair {
	union any_lock lock;
	uint64_t first, second;
};

static struct {
	struct lock_nodes nodes;
	struct pair pairs[ARRAY_SIZE(lock_types)][DEPTH];
	_Atomic uint64_t writes;
	uint64_t seed;
} stress;

enum hold { HOLD_NOTHING, HOLD_ALONE, HOLD_SHARED };

/* Takes the lock in a way that is drawn; with `tries_only` without ever waiting. */
static enum hold take(struct pair *pair, const struct lock_type *type, struct random *random, bool tries_only)
{
	bool shared = type->lock_shared && random_below(random, 3);

	if (tries_only || random_below(random, 4) == 0) {
		if (shared)
			return type->trylock_shared(&pair->lock) ? HOLD_SHARED : HOLD_NOTHING;
		return type->trylock(&pair->lock) ? HOLD_ALONE : HOLD_NOTHING;
	}
	if (shared) {
		type->lock_shared(&pair->lock);
		return HOLD_SHARED;
	}
	type->lock(&pair->lock);
	return HOLD_ALONE;
}

static void use(struct pair *pair, enum hold hold, struct random *random)
{
	if (hold == HOLD_NOTHING)
		return;
	invariant(pair->first == pair->second);
	if (hold == HOLD_ALONE) {
		pair->first++;
		if (random_below(random, 64) == 0)
			host_yield();
		pair->second++;
		atomic_fetch_add_explicit(&stress.writes, 1, memory_order_relaxed);
	}
	invariant(pair->first == pair->second);
}

static void give(struct pair *pair, const struct lock_type *type, enum hold hold)
{
	if (hold == HOLD_ALONE)
		type->unlock(&pair->lock);
	else if (hold == HOLD_SHARED)
		type->unlock_shared(&pair->lock);
}

/*
 * One chain: a lock of each depth, outermost first. Once a spinning lock is held the sleeping ones are only
 * tried.
 */
static void chain(struct random *random)
{
	const struct lock_type *types[DEPTH];
	struct pair *pairs[DEPTH];
	enum hold holds[DEPTH];
	bool spinning = false;

	for (unsigned depth = 0; depth < DEPTH; depth++) {
		size_t kind = random_below(random, ARRAY_SIZE(lock_types));
		bool sleeps = strncmp(lock_types[kind].name, "rwsem", 5) == 0;

		types[depth] = &lock_types[kind];
		pairs[depth] = &stress.pairs[kind][depth];
		holds[depth] = take(pairs[depth], types[depth], random, spinning && sleeps);
		use(pairs[depth], holds[depth], random);
		spinning |= !sleeps && holds[depth] != HOLD_NOTHING;
	}
	for (unsigned left = DEPTH; left > 0; left--) {
		unsigned depth = random_below(random, 2) ? left - 1 : 0;

		/* Mostly innermost first, sometimes not: what has been given back is marked. */
		give(pairs[depth], types[depth], holds[depth]);
		holds[depth] = HOLD_NOTHING;
	}
	for (unsigned depth = 0; depth < DEPTH; depth++)
		give(pairs[depth], types[depth], holds[depth]);
}

static void chains(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, stress.seed + cpu);
	for (unsigned round = 0; round < ROUNDS; round++)
		chain(&random);
}

static void init_pair(struct pair *pair, const struct lock_type *type, enum lock_rank rank)
{
	type->init(&pair->lock, &stress.nodes);
	if (strcmp(type->name, "spinlock") == 0)
		pair->lock.spinlock.rank = rank;
	else if (strcmp(type->name, "mcs_lock") == 0)
		pair->lock.mcs.rank = rank;
	else if (strcmp(type->name, "rwlock") == 0)
		pair->lock.rwlock.rank = rank;
	else
		pair->lock.rwsem.rank = rank;
}

static void chains_of_locks(void **state)
{
	uint64_t sum = 0;

	(void)state;
	memset(&stress, 0, sizeof(stress));
	stress.seed = test_seed() * CPUS;
	assert_int_equal(host_open(CPUS), 0);
	assert_int_equal(lock_nodes_open(&stress.nodes), 0);
	for (size_t kind = 0; kind < ARRAY_SIZE(lock_types); kind++) {
		for (unsigned depth = 0; depth < DEPTH; depth++)
			init_pair(&stress.pairs[kind][depth], &lock_types[kind], ranks[depth]);
	}
	run_cpus(chains, NULL);
	for (size_t kind = 0; kind < ARRAY_SIZE(lock_types); kind++) {
		for (unsigned depth = 0; depth < DEPTH; depth++) {
			assert_int_equal(stress.pairs[kind][depth].first, stress.pairs[kind][depth].second);
			sum += stress.pairs[kind][depth].first;
		}
	}
	assert_true(sum > 0);
	assert_int_equal(sum, atomic_load(&stress.writes));
	lock_nodes_close(&stress.nodes);
	host_close();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(chains_of_locks)};

	return cmocka_run_group_tests_name("stress/sync_locks", tests, NULL, NULL);
}
