/* SPDX-License-Identifier: MIT */
/*
 * The engine of the real machine: windows and counts, memory operations from many threads, refusals.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"

#define CPUS       5u
#define PAGE_BYTES 4096u
#define PAGES      64u /* of each CPU */
#define BASE       ((uintptr_t)1 << 30)

/* Bodies run in other threads, where cmocka's assertions do not work. */
#define require(condition)                                                                    \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			print_error("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                              \
		}                                                                             \
	} while (0)

static struct engine_config config(unsigned cpus)
{
	struct engine_config result = {
	    .cpus = cpus,
	    .seed = 1,
	    .exported_bytes = (uint64_t)CPUS * PAGES * PAGE_BYTES,
	    .structure_only = true,
	};

	assert_int_equal(policy_base(&result.policy, "default", NULL), 0);
	return result;
}

static void make_spaces(void *unused)
{
	(void)unused;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		require(engine_host.space_create(cpu) == 0);
		require(engine_host.map_pfn(cpu, BASE, PAGES * PAGE_BYTES, cpu * PAGES) == 0);
	}
}

static void destroy_spaces(void *unused)
{
	(void)unused;
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		engine_host.space_destroy(cpu);
}

static _Atomic unsigned ended, arrived;

/* Each CPU counts PAGES in its window, more outside it, and goes on until all have ended theirs. */
static void touch_pages(unsigned cpu, void *argument)
{
	require(argument == &ended);
	engine_host.count_operations(1000);
	require(engine_host.touch(cpu, BASE + PAGES * PAGE_BYTES, false) == -EFAULT);
	atomic_fetch_add(&arrived, 1);
	engine_host.barrier();
	require(atomic_load(&arrived) == CPUS);
	engine_host.measure_begin();
	for (unsigned page = 0; page < PAGES; page++) {
		require(engine_host.touch(cpu, BASE + page * PAGE_BYTES, page % 2) == 0);
		engine_host.count_operations(1);
	}
	/* Its own window is still open. */
	require(engine_host.measure_active());
	atomic_fetch_add(&ended, 1);
	engine_host.measure_end();
	while (engine_host.measure_active()) {
		require(engine_host.touch(cpu, BASE, false) == 0);
		engine_host.count_operations(1);
	}
	require(atomic_load(&ended) == CPUS);
}

static void windows_count_what_is_inside(void **state)
{
	struct engine_config five = config(CPUS);
	struct engine_timing timing;
	struct vsmp_report report;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_host.open(&five, &why), 0);
	for (int round = 0; round < 2; round++) {
		atomic_store(&ended, 0);
		atomic_store(&arrived, 0);
		assert_int_equal(engine_host.setup(make_spaces, NULL, &why), 0);
		assert_int_equal(engine_host.run(touch_pages, &ended, &timing, &why), 0);
		assert_int_equal(timing.operations, CPUS * PAGES);
		assert_true(timing.seconds > 0);
		assert_true(timing.cpu_seconds_per_operation > 0);
		assert_true(timing.cpu_seconds_per_operation * PAGES <= timing.seconds * 1.000001);
		if (engine_host.check(&why))
			fail_msg("%s", why.text);
		assert_int_equal(engine_host.setup(destroy_spaces, NULL, &why), 0);
	}
	assert_int_equal(engine_host.report(&report), 0);
	assert_int_equal(report.lock_count + report.line_count + report.profile_count, 0);
	engine_host.report_free(&report);
	assert_null(engine_host.deadlock_report());
	engine_host.close();
}

/* One body gives up before the barrier, one inside its window; the third is not kept waiting. */
static void some_give_up(unsigned cpu, void *unused)
{
	(void)unused;
	if (cpu == 1)
		return;
	engine_host.barrier();
	engine_host.measure_begin();
	engine_host.count_operations(2);
	if (cpu == 2)
		return;
	engine_host.measure_end();
	while (engine_host.measure_active())
		;
}

static void bodies_may_give_up(void **state)
{
	struct engine_config three = config(3);
	struct engine_timing timing;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_host.open(&three, &why), 0);
	assert_int_equal(engine_host.run(some_give_up, NULL, &timing, &why), 0);
	assert_int_equal(timing.operations, 4);
	engine_host.close();
}

static void refusals_say_why(void **state)
{
	struct engine_config bad = config(0);
	struct engine_config good = config(1);
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_host.open(&bad, &why), -EINVAL);
	assert_non_null(strstr(why.text, "0 CPUs"));
	bad.cpus = engine_host.cpus() + 1;
	assert_int_equal(engine_host.open(&bad, &why), -EINVAL);
	assert_non_null(strstr(why.text, "1025 CPUs"));
	bad = good;
	bad.exported_bytes = PAGE_BYTES + 1;
	assert_int_equal(engine_host.open(&bad, &why), -EINVAL);
	/* A refused open leaves nothing open. */
	assert_int_equal(engine_host.open(&good, &why), 0);
	assert_int_equal(engine_host.open(&good, &why), -EBUSY);
	assert_non_null(strstr(why.text, "open already"));
	engine_host.close();
	assert_int_equal(engine_host.open(&good, &why), 0);
	engine_host.close();
	assert_null(engine_host.burst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(windows_count_what_is_inside),
	    cmocka_unit_test(bodies_may_give_up),
	    cmocka_unit_test(refusals_say_why),
	};

	return cmocka_run_group_tests_name("lab/engine_host", tests, NULL, NULL);
}
