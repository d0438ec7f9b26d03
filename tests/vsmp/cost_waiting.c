/* SPDX-License-Identifier: MIT */
/*
 * Costs of waiting: a spinner's look at a word that was written, going to sleep and being woken, grace
 * periods; and the burst benchmark's skew.
 */
#include "tests/vsmp/steps.h"

#include "port/rcu.h"
#include "port/spin.h"
#include "port/wait.h"

static _Alignas(64) _Atomic uint32_t word;

/* When CPUs went on, and what else a body must know: the host's memory, which is not simulated. */
static uint64_t *times;

static void run(unsigned cpus, void (*body)(unsigned cpu, void *argument))
{
	word = 0;
	steps_create(cpus, (struct vsmp_placement){VSMP_FILL, 0}, 0, 1);
	assert_int_equal(vsmp_run(body, times, 0, NULL), 0);
	vsmp_destroy();
}

/* --- Spinning ------------------------------------------------------------------------------------------- */

static void spin_body(unsigned cpu, void *argument)
{
	uint64_t *went_on = argument;

	if (cpu == 0) {
		steps_wait(5000);
		atomic_store(&word, 1);
		steps_wait(9000);
		atomic_store(&word, 2);
	} else {
		steps_wait(1000 * cpu);
		port_spin_until_u32(&word, ~0u, 2);
	}
	went_on[cpu] = vsmp_now_cycles();
}

static void spinners_read_what_was_written(void **state)
{
	(void)state;
	/* Two cores of the socket: the store is made at 9000, the line busy until 9070, the fill takes 90
	 * more. */
	fixture_shape(1, 2, 1);
	steps_costs();
	run(2, spin_body);
	assert_int_equal(times[1], 9000 + 70 + 90);
	/* Two spinners, one fill: the later gets it 30 after. */
	fixture_shape(1, 3, 1);
	steps_costs();
	run(3, spin_body);
	assert_int_equal(times[1] + times[2], 2 * (9000 + 70 + 90) + 30);
	/* From another socket: they ask at 9000, arrive at 9050, and are served when the write is done. */
	fixture_shape(2, 1, 1);
	steps_costs();
	run(2, spin_body);
	assert_int_equal(times[1], 9000 + 250 + 400);
}

/* --- Sleeping ------------------------------------------------------------------------------------------- */

static void sleep_body(unsigned cpu, void *argument)
{
	uint64_t *went_on = argument;

	if (cpu == 0) {
		steps_wait(went_on[3]);
		/* nobody sleeps on it: costs nothing */
		port_wake(&word + 1, 1);
		went_on[0] = vsmp_now_cycles();
		port_wake(&word, 1);
	} else {
		steps_wait(1000);
		port_wait(&word, 0);
		went_on[1] = vsmp_now_cycles();
	}
}

static void sleeping_and_waking(void **state)
{
	/* It reads the word, 200 cycles, and is asleep 1,000 later. Woken before that, it wakes from there.
	 */
	static const uint64_t cases[][2] = {{8000, 8000 + 2000}, {1500, 1000 + 200 + 1000 + 2000}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		times[3] = cases[i][0];
		fixture_shape(1, 2, 1);
		steps_costs();
		run(2, sleep_body);
		assert_int_equal(times[0], cases[i][0]);
		assert_int_equal(times[1], cases[i][1]);
	}
}

/* --- Grace periods -------------------------------------------------------------------------------------- */

static void grace_body(unsigned cpu, void *argument)
{
	uint64_t *went_on = argument;

	if (cpu == 0) {
		port_rcu_read_lock();
		steps_wait(7000);
		atomic_store(&word, 1);
		went_on[0] = vsmp_now_cycles();
		port_rcu_read_unlock();
	} else {
		steps_wait(2000);
		port_rcu_synchronize();
		went_on[1] = vsmp_now_cycles();
		steps_wait(60000);
		port_rcu_synchronize();
		went_on[2] = vsmp_now_cycles();
	}
}

static void grace_periods(void **state)
{
	(void)state;
	fixture_shape(1, 2, 1);
	steps_costs();
	run(2, grace_body);
	assert_int_equal(times[0], 7200);
	assert_int_equal(times[1], 7200 + 10000); /* after the last reader's exit */
	assert_int_equal(times[2], 60000 + 10000);
}

/* --- Bursts --------------------------------------------------------------------------------------------- */

static double burst(double skew)
{
	double cycles;

	fixture_shape(3, 1, 1);
	steps_costs();
	fixture_machine.value[VSMP_SKEW] = skew;
	steps_create(3, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);
	assert_int_equal(vsmp_burst(0, 200, &cycles), 0);
	vsmp_destroy();
	return cycles;
}

static void skew_pulls_bursts_apart(void **state)
{
	(void)state;
	/*
	 * CPU 0 alone, from another socket: 305. CPUs 1 and 2 at once: travel 50 and 305 for the first, and
	 * 500 more for the second, whom the first keeps waiting.
	 */
	assert_true(burst(0) == (305.0 + 355 + 855) / 3);
	/* Up to 10 apart, they wait that much less. */
	assert_in_range((uint64_t)(1000 * burst(10)), 500000, 504900);
	/* Far apart they hardly ever meet, and nobody is slower than without skew. */
	assert_in_range((uint64_t)(1000 * burst(20000)), 1000 * (305 + 355 + 355) / 3, 350000);
}

static int open_times(void **state)
{
	(void)state;
	times = calloc(4, sizeof(*times));
	return times ? 0 : -1;
}

static int close_times(void **state)
{
	(void)state;
	free(times);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spinners_read_what_was_written),
	    cmocka_unit_test(sleeping_and_waking),
	    cmocka_unit_test(grace_periods),
	    cmocka_unit_test(skew_pulls_bursts_apart),
	};

	return cmocka_run_group_tests(tests, open_times, close_times);
}
