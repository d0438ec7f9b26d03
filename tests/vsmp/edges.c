/* SPDX-License-Identifier: MIT */
/*
 * Where the machine could go wrong: callbacks of another CPU at a barrier, a second run, a CPU without a
 * window, loops that give up, memory that changes under a spinner, stacks that run over.
 */
#include <errno.h>

#include "tests/vsmp/fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/rcu.h"
#include "port/spin.h"

static _Alignas(64) _Atomic uint32_t word;
static _Alignas(64) _Atomic uint64_t work_done;

static void work(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		atomic_fetch_add(&work_done, 1);
}

/* --- RCU ------------------------------------------------------------------------------------------------ */

static _Atomic uint32_t callback_done;
static struct port_rcu_head head;

static void slow_callback(struct port_rcu_head *unused)
{
	(void)unused;
	atomic_store(&word, 1);
	work(500);
	atomic_store(&callback_done, 1);
}

static void poll_or_barrier(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0) {
		port_rcu_call(&head, slow_callback);
		port_rcu_synchronize();
		port_rcu_poll();
	} else {
		port_spin_until_u32(&word, ~0u, 1);
		/* the callback is running */
		assert_int_equal(callback_done, 0);
		port_rcu_barrier();
		assert_int_equal(callback_done, 1);
	}
}

static void test_barrier_waits_for_a_callback_that_runs(void **state)
{
	(void)state;
	word = 0;
	callback_done = 0;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(poll_or_barrier, NULL, 0, NULL), 0);
	vsmp_destroy();
}

static unsigned armed;

static void arm_again(struct port_rcu_head *again)
{
	if (++armed < 100)
		port_rcu_call(again, arm_again);
}

static void arm_in_setup(void *argument)
{
	(void)argument;
	armed = 0;
	port_rcu_call(&head, arm_again);
	port_rcu_barrier();
	assert_int_equal(armed, 1);
	port_rcu_poll();
	assert_int_equal(armed, 2);
}

static void test_rearming_callback_runs_once_a_poll(void **state)
{
	(void)state;
	fixture_create(1, 1, 1, 1, 1);
	assert_int_equal(vsmp_setup(arm_in_setup, NULL, NULL), 0);
	vsmp_destroy();
}

/* --- Runs and windows ----------------------------------------------------------------------------------- */

static uint64_t began_at[4];

static void unequal_work(unsigned cpu, void *argument)
{
	(void)argument;
	began_at[cpu] = vsmp_now_cycles();
	vsmp_measure_begin();
	work(cpu * 100 + 1);
	vsmp_count_operations(1);
	vsmp_measure_end();
}

static void test_second_run_begins_together(void **state)
{
	struct vsmp_report report;
	double per_operation, seconds;
	uint64_t operations;

	(void)state;
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_run(unequal_work, NULL, 0, NULL), 0);
	assert_int_equal(vsmp_run(unequal_work, NULL, 0, NULL), 0);
	for (unsigned cpu = 1; cpu < 4; cpu++)
		assert_int_equal(began_at[cpu], began_at[0]);
	assert_true(began_at[0] > 0);
	vsmp_timing(&per_operation, &seconds, &operations);
	assert_int_equal(operations, 4);
	assert_int_equal(vsmp_report(&report), 0);
	assert_int_equal(report.operations, 8);
	vsmp_report_free(&report);
	vsmp_destroy();
}

static void wait_for_windows(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0)
		return; /* no window at all */
	vsmp_measure_begin();
	if (cpu == 1)
		return; /* never ended */
	vsmp_measure_end();
	while (vsmp_measure_active())
		work(1);
}

static void test_returned_cpu_keeps_nobody_waiting(void **state)
{
	(void)state;
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_run(wait_for_windows, NULL, 0, NULL), 0);
	assert_int_equal(vsmp_window_cycles(0), 0);
	vsmp_destroy();
}

static void come_late(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 3)
		return; /* the others must not wait for it */
	work(cpu * 1000);
	vsmp_barrier();
	began_at[cpu] = vsmp_now_cycles();
}

static void test_barrier(void **state)
{
	(void)state;
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_run(come_late, NULL, 100, NULL), 0);
	vsmp_destroy();
	for (unsigned cpu = 1; cpu < 3; cpu++)
		assert_in_range(began_at[cpu] + 100 - began_at[0], 0, 200);
}

/* --- Loops ---------------------------------------------------------------------------------------------- */

/* Spins for a while, then helps itself: no deadlock, though for a time nobody can run. */
static void give_up_and_go_on(unsigned cpu, void *argument)
{
	unsigned turns = 0;

	(void)cpu;
	(void)argument;
	while (atomic_load(&word) == 0 && ++turns < 100)
		port_cpu_relax();
	atomic_store(&word, 1);
}

static void test_bounded_spin_is_no_deadlock(void **state)
{
	(void)state;
	word = 0;
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_run(give_up_and_go_on, NULL, 0, NULL), 0);
	vsmp_destroy();
}

static void relax_for_ever(unsigned cpu, void *argument)
{
	(void)cpu;
	(void)argument;
	while (atomic_load(&word) == 0)
		port_cpu_relax();
}

static void test_unbounded_spin_is_a_deadlock(void **state)
{
	struct message why = {""};

	(void)state;
	word = 0;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(relax_for_ever, NULL, 0, &why), -EDEADLK);
	assert_string_equal(why.text, "deadlock: 2 of 2 CPUs wait, and no CPU can run");
	vsmp_destroy();
}

static _Atomic uint32_t *stack_word;

static void spin_on_a_stack(unsigned cpu, void *argument)
{
	_Atomic uint32_t mine = 0;

	(void)argument;
	if (cpu == 0) {
		stack_word = &mine;
		atomic_store(&word, 1);
		port_spin_until_u32(&mine, ~0u, 5);
	} else {
		port_spin_until_u32(&word, ~0u, 1);
		work(100);
		atomic_store(stack_word, 5);
	}
}

static void test_spinning_on_a_stack(void **state)
{
	(void)state;
	word = 0;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(spin_on_a_stack, NULL, 0, NULL), 0);
	vsmp_destroy();
}

/* --- Memory that begins anew ---------------------------------------------------------------------------- */

static _Atomic uint32_t *page;

static void allocate_page(void *argument)
{
	(void)argument;
	page = port_memory_alloc(PORT_PAGE_SIZE, PORT_NODE_FIRST_TOUCH, NULL);
	atomic_store(page, 7);
}

static void clear_under_a_spinner(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu) {
		port_spin_until_u32(page, ~0u, 0);
	} else {
		work(100);
		port_page_clear(page, 0);
	}
}

static void test_clearing_a_page_wakes_its_spinners(void **state)
{
	(void)state;
	fixture_create(2, 2, 1, 4, 1);
	assert_int_equal(vsmp_setup(allocate_page, NULL, NULL), 0);
	assert_int_equal(vsmp_run(clear_under_a_spinner, NULL, 0, NULL), 0);
	vsmp_destroy();
}

/* Frees large memory whose lines were shared: their sets of sharers must come back, or they run out. */
#define LARGE_BYTES  ((size_t)8 << 20)
#define LARGE_ROUNDS 160u

static char *_Atomic large;

static void share_and_free(unsigned cpu, void *argument)
{
	(void)argument;
	for (uint32_t round = 0; round < LARGE_ROUNDS; round++) {
		if (cpu == 0) {
			char *memory = port_memory_alloc(LARGE_BYTES, PORT_NODE_FIRST_TOUCH, NULL);

			assert_non_null(memory);
			for (size_t i = 0; i < LARGE_BYTES; i += 64)
				*(volatile char *)&memory[i] = 1;
			atomic_store(&large, memory);
			atomic_store(&word, round * 2 + 1);
			port_spin_until_u32(&word, ~0u, round * 2 + 2);
			port_memory_free(memory, LARGE_BYTES);
		} else {
			port_spin_until_u32(&word, ~0u, round * 2 + 1);
			for (size_t i = 0; i < LARGE_BYTES; i += 64)
				(void)*(volatile char *)&atomic_load(&large)[i];
			atomic_store(&word, round * 2 + 2);
		}
	}
}

static void test_sharer_sets_come_back(void **state)
{
	(void)state;
	word = 0;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(share_and_free, NULL, 0, NULL), 0);
	vsmp_destroy();
}

/* --- Stacks --------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) unsigned fall(volatile char *before, unsigned depth)
{
	volatile char here[4096];

	here[0] = before[0];
	return depth ? fall(here, depth - 1) + (unsigned)here[0] : 0;
}

static void fall_deep(unsigned cpu, void *argument)
{
	volatile char start[1] = {1};

	(void)argument;
	if (cpu == 1)
		fall(start, 1000);
}

static void test_stack_that_runs_over_is_named(void **state)
{
	char text[512] = "";
	int pipe_ends[2], status;
	size_t length = 0;
	ssize_t got;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipe_ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(pipe_ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		fixture_create(1, 2, 1, 2, 1);
		vsmp_run(fall_deep, NULL, 0, NULL);
		_exit(0);
	}
	close(pipe_ends[1]);
	while ((got = read(pipe_ends[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	close(pipe_ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(text, "simulated CPU 1 ran over its stack"));
	assert_non_null(strstr(text, "fall"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_barrier_waits_for_a_callback_that_runs),
	    cmocka_unit_test(test_rearming_callback_runs_once_a_poll),
	    cmocka_unit_test(test_second_run_begins_together),
	    cmocka_unit_test(test_returned_cpu_keeps_nobody_waiting),
	    cmocka_unit_test(test_barrier),
	    cmocka_unit_test(test_bounded_spin_is_no_deadlock),
	    cmocka_unit_test(test_unbounded_spin_is_a_deadlock),
	    cmocka_unit_test(test_spinning_on_a_stack),
	    cmocka_unit_test(test_clearing_a_page_wakes_its_spinners),
	    cmocka_unit_test(test_sharer_sets_come_back),
	    cmocka_unit_test(test_stack_that_runs_over_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
