/* SPDX-License-Identifier: MIT */
/*
 * The rank test against a count of all orders, and verdicts on series whose truth is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "base/random.h"
#include "lab/comparison.h"
#include "lab/rank_test.h"

#define NUMBERS_MAX 10u

static double uniform(struct random *random)
{
	return (double)(random_next(random) >> 11) / 9007199254740992.0;
}

/* By how much a's numbers beat b's, ties as a half; away from the middle, either way. */
static double distance(const double *numbers, size_t count, unsigned chosen)
{
	double wins = 0, pairs = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++) {
			if (!(chosen >> i & 1) || chosen >> j & 1)
				continue;
			pairs++;
			wins += numbers[i] > numbers[j] ? 1 : numbers[i] == numbers[j] ? 0.5 : 0;
		}
	return fabs(wins - pairs / 2);
}

/* The same by looking at every choice of a's places among all. */
static double naive(const double *numbers, size_t count, size_t a_count)
{
	double all = 0, extreme = 0, own = distance(numbers, count, (1u << a_count) - 1);

	for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
		if ((size_t)__builtin_popcount(chosen) != a_count)
			continue;
		all++;
		if (distance(numbers, count, chosen) >= own)
			extreme++;
	}
	return extreme / all;
}

static void counts_all_orders(void **state)
{
	struct random random;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		double numbers[NUMBERS_MAX], got, expected;
		size_t count, a_count;

		random_seed(&random, seed);
		count = 2 + random_below(&random, NUMBERS_MAX - 1);
		a_count = 1 + random_below(&random, count - 1);
		/* Few values, so that many are equal; on odd seeds many. */
		for (size_t i = 0; i < count; i++)
			numbers[i] = (double)random_below(&random, seed % 2 ? 1000 : 4);
		got = rank_test(numbers, a_count, numbers + a_count, count - a_count);
		expected = naive(numbers, count, a_count);
		if (fabs(got - expected) > 1e-9)
			fail_msg("seed %llu: %g, and not %g", (unsigned long long)seed, got, expected);
	}
}

/* At the border between the two ways of computing it, they agree. */
static void approximates_well(void **state)
{
	double numbers[RANK_TEST_EXACT_MAX + 2];
	struct random random;
	size_t half = RANK_TEST_EXACT_MAX / 2;

	(void)state;
	random_seed(&random, 7);
	for (size_t i = 0; i < RANK_TEST_EXACT_MAX; i++)
		numbers[i] = uniform(&random) + (i < half ? 0 : 0.15);
	numbers[RANK_TEST_EXACT_MAX] = numbers[RANK_TEST_EXACT_MAX - 1] + 1e-3;
	numbers[RANK_TEST_EXACT_MAX + 1] = numbers[0] + 0.2;
	double exact = rank_test(numbers, half, numbers + half, half);
	double approximate = rank_test(numbers, half, numbers + half, half + 2);

	assert_true(exact > 1e-5 && exact < 0.5);
	assert_true(fabs(log(approximate / exact)) < 0.7);
}

static void series(struct random *random, double *samples, size_t count, double centre, double noise)
{
	for (size_t i = 0; i < count; i++)
		samples[i] = centre * (1 + noise * (uniform(random) + uniform(random) - 1));
}

static void judges_what_is_clear(void **state)
{
	struct comparison comparison;
	double a[10], b[10];
	struct random random;

	(void)state;
	random_seed(&random, 1);
	series(&random, a, 10, 100, 0.02);
	series(&random, b, 10, 105, 0.02);
	compare_samples(a, 10, b, 10, &comparison);
	assert_int_equal(comparison.verdict, VERDICT_SLOWER);
	assert_true(comparison.low > 1.03 && comparison.high < 1.07);
	assert_true(comparison.low <= comparison.ratio && comparison.ratio <= comparison.high);
	compare_samples(b, 10, a, 10, &comparison);
	assert_int_equal(comparison.verdict, VERDICT_FASTER);
	compare_samples(a, 10, a, 10, &comparison);
	assert_int_equal(comparison.verdict, VERDICT_NOISE);
	assert_true(comparison.ratio == 1 && comparison.p == 1);
}

static void knows_when_there_is_too_little(void **state)
{
	const double a[] = {100, 101, 102, 103, 104}, b[] = {200, 201, 202, 203, 204};
	struct comparison comparison;

	(void)state;
	compare_samples(a, COMPARISON_SAMPLES_MIN - 1, b, COMPARISON_SAMPLES_MIN - 1, &comparison);
	assert_int_equal(comparison.verdict, VERDICT_NOISE);
	assert_true(comparison.smallest == 0);
	compare_samples(a, COMPARISON_SAMPLES_MIN, b, COMPARISON_SAMPLES_MIN, &comparison);
	assert_int_equal(comparison.verdict, VERDICT_SLOWER);
	assert_true(comparison.smallest > 1);
}

/* What is said to have been enough is enough, either way; a bit less is not, one way or the other. */
static void tells_the_smallest_effect(void **state)
{
	struct comparison comparison, again;
	double a[8], b[8], moved[8];
	struct random random;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		random_seed(&random, seed);
		series(&random, a, 8, 100, 0.1);
		series(&random, b, 8, 100, 0.1);
		/* On odd seeds few different values, as simulated times may be. */
		for (size_t i = 0; i < 8 && seed % 2; i++) {
			a[i] = 10 * floor(a[i] / 10);
			b[i] = 10 * floor(b[i] / 10);
		}
		compare_samples(a, 8, b, 8, &comparison);
		for (int more = -1; more <= 1; more += 2) {
			double factor = comparison.smallest * (1 + more * 1e-6);
			unsigned told = 0;

			for (int slower = 0; slower <= 1; slower++) {
				for (size_t i = 0; i < 8; i++)
					moved[i] = b[i] * (slower ? factor : 1 / factor) / comparison.ratio;
				compare_samples(a, 8, moved, 8, &again);
				told += again.verdict == (slower ? VERDICT_SLOWER : VERDICT_FASTER);
			}
			if (more > 0 ? told != 2 : told == 2)
				fail_msg("seed %llu: %g was not the smallest", (unsigned long long)seed,
					 comparison.smallest);
		}
	}
}

/* Of pairs of one distribution fewer than 1 in 100 should be told apart, and half a hundred seeds repeat. */
static void seldom_sees_what_is_not_there(void **state)
{
	unsigned told = 0;
	struct random random;

	(void)state;
	random_seed(&random, 11);
	for (unsigned pair = 0; pair < 500; pair++) {
		struct comparison comparison;
		double a[7], b[7];

		series(&random, a, 7, 50, 0.3);
		series(&random, b, 7, 50, 0.3);
		compare_samples(a, 7, b, 7, &comparison);
		told += comparison.verdict != VERDICT_NOISE;
	}
	assert_true(told <= 12);
}

static void repeats_itself(void **state)
{
	struct comparison one, other;
	double a[9], b[9];
	struct random random;

	(void)state;
	random_seed(&random, 5);
	series(&random, a, 9, 10, 0.5);
	series(&random, b, 9, 12, 0.5);
	compare_samples(a, 9, b, 9, &one);
	compare_samples(a, 9, b, 9, &other);
	assert_true(one.low == other.low && one.high == other.high && one.smallest == other.smallest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_all_orders),
	    cmocka_unit_test(approximates_well),
	    cmocka_unit_test(judges_what_is_clear),
	    cmocka_unit_test(knows_when_there_is_too_little),
	    cmocka_unit_test(tells_the_smallest_effect),
	    cmocka_unit_test(seldom_sees_what_is_not_there),
	    cmocka_unit_test(repeats_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
