/* SPDX-License-Identifier: MIT */
#include "sync/refcount.h"

#include "base/random.h"
#include "host/cpu.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "tests/common/death.h"
#include "tests/common/on_cpus.h"

#define CPUS   6u
#define ROUNDS 300u

static struct refcount count;
static uint64_t
    value; /* written by every holder's friend before the put, freed by the last: plain on purpose */
static _Atomic unsigned zeroes;
static _Atomic unsigned arrived;
static uint64_t seed;

/* Every CPU has one reference, takes and puts further ones, and puts its own at the end. */
static void take_and_put(unsigned cpu, void *argument)
{
	struct random random;
	unsigned mine = 1;

	(void)argument;
	random_seed(&random, seed + cpu);
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) != CPUS)
		port_cpu_relax();
	for (unsigned i = 0; i < 50; i++) {
		if (mine > 1 && random_below(&random, 2)) {
			invariant(!refcount_dec_and_test(&count));
			mine--;
		} else if (random_below(&random, 2)) {
			refcount_inc(&count);
			mine++;
		} else {
			invariant(refcount_inc_not_zero(&count));
			mine++;
		}
		invariant(value == 1);
	}
	while (mine--) {
		if (refcount_dec_and_test(&count)) {
			/* Alone now; under ThreadSanitizer this write shows a missing order. */
			value = 0;
			atomic_fetch_add(&zeroes, 1);
			invariant(mine == 0);
		}
	}
	/* Those that come late find it gone, however many they are. */
	if (refcount_read(&count) == 0)
		invariant(!refcount_inc_not_zero(&count));
}

static void reaches_zero_once(void **state)
{
	(void)state;
	seed = test_seed() * CPUS;
	assert_int_equal(host_open(CPUS), 0);
	for (unsigned round = 0; round < ROUNDS / CPUS; round++) {
		refcount_init(&count, CPUS);
		value = 1;
		atomic_store(&zeroes, 0);
		atomic_store(&arrived, 0);
		run_cpus(take_and_put, NULL);
		assert_int_equal(atomic_load(&zeroes), 1);
		assert_int_equal(refcount_read(&count), 0);
		assert_int_equal(value, 0);
		seed += CPUS;
	}
	host_close();
}

static void inc_from_zero(void *unused)
{
	(void)unused;
	refcount_init(&count, 0);
	refcount_inc(&count);
}

static void inc_saturated(void *unused)
{
	(void)unused;
	refcount_init(&count, REFCOUNT_MAX);
	refcount_inc(&count);
}

static void inc_not_zero_saturated(void *unused)
{
	(void)unused;
	refcount_init(&count, REFCOUNT_MAX);
	refcount_inc_not_zero(&count);
}

static void put_too_many(void *unused)
{
	(void)unused;
	refcount_init(&count, 1);
	refcount_dec_and_test(&count);
	refcount_dec_and_test(&count);
}

static void misuse_is_reported(void **state)
{
	(void)state;
	expect_death(inc_from_zero, NULL, "sync/refcount.h", "old != 0");
	expect_death(inc_saturated, NULL, "sync/refcount.h", "old < REFCOUNT_MAX");
	expect_death(inc_not_zero_saturated, NULL, "sync/refcount.h", "old < REFCOUNT_MAX");
	expect_death(put_too_many, NULL, "sync/refcount.h", "old != 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reaches_zero_once),
	    cmocka_unit_test(misuse_is_reported),
	};

	return cmocka_run_group_tests_name("sync/refcount", tests, NULL, NULL);
}
