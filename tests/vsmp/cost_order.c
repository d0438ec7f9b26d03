/* SPDX-License-Identifier: MIT */
/*
 * Who is served first at a busy line, how jitter lengthens a request's way, and how far a CPU's hits may run
 * ahead of the others.
 */
#include "tests/vsmp/steps.h"

static _Alignas(64) volatile uint64_t own_word;
/* Not static: clang throws away the stores to a variable that it can see nobody reads. */
_Alignas(64) _Atomic uint64_t other_word;

/* Words of the host's memory, which is not simulated. */
static uint64_t *outside;

/* --- Order of service ----------------------------------------------------------------------------------- */

/* Four sockets of one core. CPU 3 is far from the line's home, so it asks first and arrives last. */
static void four_sockets(enum vsmp_service service)
{
	fixture_shape(4, 1, 1);
	steps_costs();
	fixture_machine.service = service;
	for (unsigned other = 0; other < 3; other++)
		steps_hops(3, other, 10);
}

static void fifo_serves_by_arrival(void **state)
{
	(void)state;
	four_sockets(VSMP_SERVICE_FIFO);
	/* CPU 0 keeps the line busy from 2000 to 2250. CPU 3 asks at 2000 and arrives at 2113, CPU 2 at 2070.
	 */
	STEPS(4, 0, {1, 1000, STEP_WRITE, 300, 0}, {0, 2000, STEP_WRITE, 305, 0},
	      {3, 2000, STEP_WRITE, 2750 - 2000 + 300 + 9 * 13 + 5, 0},
	      {2, 2020, STEP_WRITE, 2250 - 2020 + 305, 0});
}

static void ask_at_once(unsigned cpu, void *argument)
{
	const uint64_t at[] = {2000, 1000, 2020, 2000};
	uint64_t *done_at = argument;

	steps_wait(at[cpu]);
	atomic_store(&other_word, cpu);
	done_at[cpu] = vsmp_now_cycles();
}

/* How often, of 200 seeds, CPU 3 gets the line before CPU 2. */
static unsigned overtakes(enum vsmp_service service)
{
	unsigned count = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		four_sockets(service);
		steps_create(4, (struct vsmp_placement){VSMP_FILL, 0}, 0, seed);
		assert_int_equal(vsmp_run(ask_at_once, outside, 0, NULL), 0);
		vsmp_destroy();
		count += outside[3] < outside[2];
	}
	return count;
}

static void random_serves_anyone_who_has_arrived(void **state)
{
	unsigned count;

	(void)state;
	assert_int_equal(overtakes(VSMP_SERVICE_FIFO), 0);
	count = overtakes(VSMP_SERVICE_RANDOM);
	/* Half of them; more than six standard deviations on either side is no chance. */
	assert_in_range(count, 58, 142);
}

/* Whatever the draw, who has not arrived yet is not served. */
static void random_serves_nobody_who_is_on_the_way(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		/* The line is busy until 2200. CPU 2 arrives at 2010, CPU 3 at 2383. */
		const struct step steps[] = {{1, 1000, STEP_WRITE, 300, 0},
					     {0, 1950, STEP_WRITE, 305, 0},
					     {2, 1960, STEP_WRITE, 2200 - 1960 + 305, 0},
					     {3, 2000, STEP_WRITE, 2700 - 2000 + 300 + 9 * 13 + 5, 0}};

		four_sockets(VSMP_SERVICE_RANDOM);
		fixture_machine.value[VSMP_TRAVEL_HOP] = 37;
		steps_create(4, (struct vsmp_placement){VSMP_FILL, 0}, -1, seed);
		steps_run(steps, 4, NULL, 64, 0);
	}
}

/* --- Jitter --------------------------------------------------------------------------------------------- */

struct fetches {
	_Atomic uint64_t *line;
	unsigned seen[8]; /* by how many cycles more than without jitter */
};

static void allocate_line(void *argument)
{
	((struct fetches *)argument)->line = port_memory_alloc(64, 0, NULL);
}

/* CPU 0 writes, then CPU 1 reads, 400 times, in turn. */
static void fetch_in_turn(unsigned cpu, void *argument)
{
	struct fetches *fetches = argument;

	for (unsigned i = 0; i < 400; i++) {
		uint64_t begin = 4000 * (i + 1) + 2000 * cpu, base = 450;

		steps_wait(begin);
		if (cpu) {
			atomic_load(fetches->line);
			begin += base;
			assert_in_range(vsmp_now_cycles() - begin, 0, 7);
			fetches->seen[vsmp_now_cycles() - begin]++;
		} else {
			atomic_store(fetches->line, i);
		}
	}
}

static void jitter_lengthens_the_way(void **state)
{
	struct fetches *fetches = calloc(1, sizeof(*fetches));

	(void)state;
	assert_non_null(fetches);
	fixture_shape(2, 1, 1);
	steps_costs();
	fixture_machine.value[VSMP_JITTER] = 3;
	steps_create(2, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);
	assert_int_equal(vsmp_setup(allocate_line, fetches, NULL), 0);
	assert_int_equal(vsmp_run(fetch_in_turn, fetches, 0, NULL), 0);
	vsmp_destroy();
	/* 0 to 3 more, each as likely; never more */
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(fetches->seen[i], 60, 140);
	for (unsigned i = 4; i < 8; i++)
		assert_int_equal(fetches->seen[i], 0);
	free(fetches);
}

static void inside_a_socket_nothing_jitters(void **state)
{
	(void)state;
	fixture_shape(1, 2, 1);
	steps_costs();
	fixture_machine.value[VSMP_JITTER] = 50;
	STEPS(2, 0, {0, 1000, STEP_WRITE, 200, 0}, {1, 2000, STEP_READ, 90, 0}, {0, 3000, STEP_WRITE, 140, 0},
	      {1, 4000, STEP_WRITE, 140, 0}, {0, 5000, STEP_WRITE, 140, 0}, {1, 6000, STEP_WRITE, 140, 0});
}

/* --- Running ahead -------------------------------------------------------------------------------------- */

/* CPU 0 hits its own line all the time. At 5000 CPU 1 takes its turn, and sees how far CPU 0 has come. */
static void run_ahead(unsigned cpu, void *argument)
{
	uint64_t *clocks = argument;

	if (cpu == 0) {
		own_word = 1;
		while (vsmp_now_cycles() < 20000) {
			clocks[0] = vsmp_now_cycles();
			(void)own_word;
		}
	} else {
		atomic_store(&other_word, 1);
		steps_wait(5000);
		atomic_store(&other_word, 2);
		clocks[1] = clocks[0];
	}
}

static void hits_run_ahead_only_so_far(void **state)
{
	(void)state;
	fixture_shape(1, 2, 1);
	steps_costs();
	steps_create(2, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);
	assert_int_equal(vsmp_run(run_ahead, outside, 0, NULL), 0);
	vsmp_destroy();
	/* It gives way with the first hit that begins more than 256 cycles later; a hit takes 4. */
	assert_in_range(outside[1], 5000 + 256 + 1, 5000 + 256 + 4);
}

static int open_outside(void **state)
{
	(void)state;
	outside = calloc(4, sizeof(*outside));
	return outside ? 0 : -1;
}

static int close_outside(void **state)
{
	(void)state;
	free(outside);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fifo_serves_by_arrival),
	    cmocka_unit_test(random_serves_anyone_who_has_arrived),
	    cmocka_unit_test(random_serves_nobody_who_is_on_the_way),
	    cmocka_unit_test(jitter_lengthens_the_way),
	    cmocka_unit_test(inside_a_socket_nothing_jitters),
	    cmocka_unit_test(hits_run_ahead_only_so_far),
	};

	return cmocka_run_group_tests(tests, open_outside, close_outside);
}
