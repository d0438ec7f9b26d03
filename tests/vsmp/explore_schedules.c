/* SPDX-License-Identifier: MIT */
/*
 * Exploration: schedules are what their seeds make them, and forced ones what they are forced to be.
 */
#include <errno.h>

#include "tests/vsmp/explore_fixture.h"
#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/rcu.h"
#include "port/spin.h"
#include "vsmp/explore/record.h"

static _Alignas(64) _Atomic uint32_t word;
static _Alignas(64) _Atomic uint32_t other_word;
static _Alignas(64) _Atomic uint32_t taken[2][4];

/* What checks tell the test: in the host's memory, where nobody undoes it. */
static struct {
	unsigned orders[16];
	unsigned found;
} * told;

static int begin_telling(void **state)
{
	(void)state;
	told = calloc(1, sizeof(*told));
	return told ? 0 : -1;
}

static int end_telling(void **state)
{
	(void)state;
	free(told);
	return 0;
}

/* --- Order ---------------------------------------------------------------------------------------------- */

/* Two steps each, whose places in the schedule stand in `taken`. */
static void two_steps(void)
{
	for (unsigned i = 0; i < 2; i++)
		taken[port_cpu()][i] = atomic_fetch_add(&word, 1);
}

/* The set of the places of CPU 0. */
static bool tell_order(struct message *why)
{
	unsigned set = 1u << taken[0][0] | 1u << taken[0][1];

	(void)why;
	told->orders[set]++;
	return word == 4;
}

static struct check order_check = {.name = "order",
				   .setup = fixture_nothing,
				   .body = {two_steps, two_steps},
				   .holds = tell_order,
				   .teardown = fixture_none};

static void test_all_orders_are_reached(void **state)
{
	unsigned reached = 0;

	(void)state;
	fixture_open_as(&order_check, EXPLORE_RANDOM, 0);
	memset(told->orders, 0, sizeof(told->orders));
	for (uint64_t seed = 1; seed <= 600; seed++)
		assert_int_equal(explore_run(seed).kind, EXPLORE_NOTHING);
	for (unsigned set = 0; set < 16; set++) {
		if (__builtin_popcount(set) != 2)
			assert_int_equal(told->orders[set], 0);
		else
			reached += told->orders[set] > 0;
	}
	assert_int_equal(reached, 6);
	explore_close();
}

static void test_depth_one_is_one_after_the_other(void **state)
{
	(void)state;
	fixture_open_as(&order_check, EXPLORE_PCT, 1);
	memset(told->orders, 0, sizeof(told->orders));
	for (uint64_t seed = 1; seed <= 100; seed++)
		assert_int_equal(explore_run(seed).kind, EXPLORE_NOTHING);
	assert_true(told->orders[3] > 20);
	assert_true(told->orders[12] > 20);
	assert_int_equal(told->orders[3] + told->orders[12], 100);
	explore_close();
}

/* --- Seeds ---------------------------------------------------------------------------------------------- */

struct cell {
	struct port_rcu_head head;
	_Atomic uint32_t value;
};

static struct cell *_Atomic cell;

static int make_cell(struct message *why)
{
	(void)why;
	cell = port_memory_alloc(sizeof(struct cell), 0, "struct cell");
	return 0;
}

static void free_cell(struct port_rcu_head *head)
{
	port_memory_free(head, sizeof(struct cell));
}

static void drop_cell(void)
{
	port_memory_free(cell, sizeof(struct cell));
}

/* A little of everything that waits: spinning, loops, grace periods. */
static void replace_cells(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct cell *new = port_memory_alloc(sizeof(*new), 0, "struct cell"), *old;

		atomic_store(&new->value, i);
		old = atomic_exchange(&cell, new);
		atomic_store(&word, i + 1);
		port_rcu_call(&old->head, free_cell);
		port_rcu_poll();
		port_spin_until_u32(&other_word, ~0u, i + 1);
	}
	port_rcu_barrier();
}

static void read_cells(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct cell *mine;

		while (atomic_load(&word) <= i)
			port_cpu_relax();
		port_rcu_read_lock();
		mine = atomic_load(&cell);
		check_that(mine->value >= i);
		port_rcu_read_unlock();
		atomic_store(&other_word, i + 1);
	}
}

static struct check mixed_check = {.name = "mixed",
				   .setup = make_cell,
				   .body = {replace_cells, read_cells, read_cells},
				   .holds = fixture_true,
				   .teardown = drop_cell};

#define SEEDS 300

static void collect(enum explore_strategy strategy, unsigned depth, struct explore_outcome *outcomes)
{
	fixture_open_as(&mixed_check, strategy, depth);
	/* Not in the order of the seeds: what ran before must not count. */
	for (uint64_t i = 0; i < SEEDS; i++)
		outcomes[i * 7 % SEEDS] = explore_run(i * 7 % SEEDS);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct explore_outcome again = explore_run(seed);

		assert_int_equal(again.kind, EXPLORE_NOTHING);
		assert_int_equal(outcomes[seed].kind, EXPLORE_NOTHING);
		assert_int_equal(outcomes[seed].steps, again.steps);
		assert_int_equal(outcomes[seed].fingerprint, again.fingerprint);
	}
	explore_close();
}

static void test_seed_makes_the_schedule(void **state)
{
	static struct explore_outcome first[SEEDS], second[SEEDS];
	unsigned different = 0;

	(void)state;
	for (int strategy = EXPLORE_RANDOM; strategy <= EXPLORE_PCT; strategy++) {
		collect(strategy, 3, first);
		collect(strategy, 3, second);
		different = 0;
		for (unsigned seed = 0; seed < SEEDS; seed++) {
			assert_int_equal(first[seed].fingerprint, second[seed].fingerprint);
			different += first[seed].fingerprint != first[0].fingerprint;
		}
		assert_true(different > SEEDS / 2);
	}
}

/* --- Forced schedules ----------------------------------------------------------------------------------- */

static void test_forced_schedule_is_the_same(void **state)
{
	struct explore_segment *segments;

	(void)state;
	fixture_open_as(&mixed_check, EXPLORE_RANDOM, 0);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct explore_outcome free_one, forced;
		size_t count;

		record_level = RECORD_STEPS;
		free_one = explore_run(seed);
		count = record.segment_count;
		segments = malloc(count * sizeof(*segments));
		memcpy(segments, record.segments, count * sizeof(*segments));
		forced = explore_run_forced(segments, count);
		assert_int_equal(forced.kind, free_one.kind);
		assert_int_equal(forced.steps, free_one.steps);
		assert_int_equal(forced.fingerprint, free_one.fingerprint);
		assert_int_equal(record.segment_count, count);
		free(segments);
	}
	record_close();
	explore_close();
}

/* CPU 1 takes both its steps between the two of CPU 0, whose beginning counts as one. */
static void test_segments_are_obeyed(void **state)
{
	static const struct explore_segment segments[] = {
	    {.cpu = 0, .steps = 2}, {.cpu = 1, .steps = 100}, {.cpu = 0, .steps = 1}};

	(void)state;
	fixture_open_as(&order_check, EXPLORE_RANDOM, 0);
	memset(told->orders, 0, sizeof(told->orders));
	assert_int_equal(explore_run_forced(segments, 3).kind, EXPLORE_NOTHING);
	assert_int_equal(told->orders[1 | 8], 1);
	explore_close();
}

/* --- PCT ------------------------------------------------------------------------------------------------ */

#define FILL 8

static void fill(void)
{
	for (unsigned i = 0; i < FILL; i++)
		atomic_load(&taken[port_cpu()][3]);
}

/* Between the two stores lies the state that nobody should see: two orders must come together, depth 2. */
static void store_both(void)
{
	fill();
	atomic_store(&word, 1);
	atomic_store(&other_word, 1);
	fill();
}

static void see_one(void)
{
	fill();
	if (atomic_load(&word) && !atomic_load(&other_word))
		told->found++;
	fill();
}

static struct check between_check = {.name = "between",
				     .setup = fixture_nothing,
				     .body = {store_both, see_one, see_one},
				     .holds = fixture_true,
				     .teardown = fixture_none};

static void test_pct_keeps_its_bound(void **state)
{
	enum { RUNS = 20000 };
	double bound;

	(void)state;
	fixture_open_as(&between_check, EXPLORE_PCT, 2);
	assert_in_range(explore_steps(), 3 * (2 * FILL + 1), 3 * (2 * FILL + 2) + 6);
	bound = explore_bound(3, explore_steps(), 2);
	assert_true(bound == 1. / (3. * (double)explore_steps()));
	assert_true(explore_bound(2, 10, 1) == .5 && explore_bound(2, 10, 3) == .005 &&
		    explore_bound(4, 0, 3) == .25);
	told->found = 0;
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		assert_int_equal(explore_run(seed).kind, EXPLORE_NOTHING);
	assert_true(told->found >= RUNS * bound);
	explore_close();
	/* Depth 1 cannot see it. */
	fixture_open_as(&between_check, EXPLORE_PCT, 1);
	told->found = 0;
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		explore_run(seed);
	assert_int_equal(told->found, 0);
	explore_close();
}

/* --- What is refused ------------------------------------------------------------------------------------ */

static int refuse(struct message *why)
{
	return message_set(why, -ENOSPC, "no room");
}

static int broken_setup(struct message *why)
{
	(void)why;
	check_that(word == 1);
	return 0;
}

static void test_refusals(void **state)
{
	struct check check = order_check;
	struct explore_config config = {.check = &check, .cpus = 1};
	struct message why = {""};

	(void)state;
	assert_int_equal(explore_open(&config, &why), -EINVAL);
	assert_string_equal(why.text, "this check runs on 2 CPUs, not 1: no two can do the same");
	config.cpus = 3;
	assert_int_equal(explore_open(&config, &why), -EINVAL);
	assert_string_equal(why.text, "this check runs on 2 CPUs, not 3: no two can do the same");
	check.cpus_max = 4;
	config.cpus = 5;
	assert_int_equal(explore_open(&config, &why), -EINVAL);
	assert_string_equal(why.text, "this check runs on 2 to 4 CPUs, not 5");
	config.cpus = 1;
	assert_int_equal(explore_open(&config, &why), -EINVAL);
	config.cpus = 0;
	config.strategy = EXPLORE_PCT;
	assert_int_equal(explore_open(&config, &why), -EINVAL);
	assert_string_equal(why.text, "the depth is 1 to 16, not 0");
	config.depth = 1;
	check.setup = refuse;
	assert_int_equal(explore_open(&config, &why), -ENOSPC);
	assert_string_equal(why.text, "setup of order: no room");
	check.setup = broken_setup;
	assert_int_equal(explore_open(&config, &why), -EFAULT);
	assert_non_null(strstr(why.text, "setup of order: assertion: tests/vsmp/explore_schedules.c:"));
	check.setup = fixture_nothing;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(explore_open(&config, &why), -EBUSY);
	vsmp_destroy();
	assert_int_equal(explore_open(&config, &why), 0);
	explore_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_orders_are_reached),
	    cmocka_unit_test(test_depth_one_is_one_after_the_other),
	    cmocka_unit_test(test_seed_makes_the_schedule),
	    cmocka_unit_test(test_forced_schedule_is_the_same),
	    cmocka_unit_test(test_segments_are_obeyed),
	    cmocka_unit_test(test_pct_keeps_its_bound),
	    cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, begin_telling, end_telling);
}
