/* SPDX-License-Identifier: MIT */
/*
 * Access sections and flushes of the real machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "host/cpu.h"
#include "port/cpu.h"
#include "port/mmu.h"

#define CPUS   4
#define ROUNDS 3000

/*
 * `entry` is what a page table entry is: the frame that may be used, 0 for none. Who takes it away and
 * flushes is the only one to use the frame from then on: a plain field tells when somebody is in it too.
 */
static struct {
	CACHE_LINE_ALIGNED _Atomic unsigned entry;
	CACHE_LINE_ALIGNED unsigned frame;
	CACHE_LINE_ALIGNED _Atomic unsigned finished, used;
} stage;

static void use(void)
{
	port_mmu_access_begin();
	/* The frame is everyone's while the entry stands: an atomic add, so that users do not race each
	 * other. */
	if (atomic_load_explicit(&stage.entry, memory_order_acquire)) {
		__atomic_fetch_add(&stage.frame, 1, __ATOMIC_RELAXED);
		atomic_fetch_add_explicit(&stage.used, 1, memory_order_relaxed);
	}
	port_mmu_access_end();
}

static void take_away(const uint64_t *cpus)
{
	unsigned used = atomic_load(&stage.used);

	stage.frame = 0;
	atomic_store_explicit(&stage.entry, 1, memory_order_release);
	/* Sometimes they get to it, sometimes not. */
	for (int i = 0; i < 50 && atomic_load(&stage.used) == used; i++)
		port_cpu_relax();
	atomic_store(&stage.entry, 0);
	port_mmu_flush(1, 0, 4096, cpus, 1);
	stage.frame = 77;
	for (int i = 0; i < 20; i++)
		assert_int_equal(*(volatile unsigned *)&stage.frame, 77);
}

static void body(unsigned cpu, void *argument)
{
	const uint64_t all = (1u << CPUS) - 1;

	(void)argument;
	if (cpu) {
		while (!atomic_load_explicit(&stage.finished, memory_order_relaxed)) {
			use();
			port_cpu_relax();
		}
		return;
	}
	for (int round = 0; round < ROUNDS; round++)
		take_away(&all);
	atomic_store(&stage.finished, 1);
}

static void nobody_is_in_a_frame_after_the_flush(void **state)
{
	(void)state;
	assert_int_equal(host_open(CPUS), 0);
	atomic_store(&stage.finished, 0);
	atomic_store(&stage.used, 0);
	assert_int_equal(host_run(body, NULL), 0);
	assert_true(atomic_load(&stage.used) > 0);
	host_close();
}

/* A CPU that is not asked is not waited for. */
static void one_in_section(unsigned cpu, void *argument)
{
	const uint64_t me = 1;

	(void)argument;
	if (cpu == 1) {
		port_mmu_access_begin();
		atomic_store(&stage.used, 1);
		while (!atomic_load(&stage.finished))
			port_cpu_relax();
		port_mmu_access_end();
	} else if (cpu == 0) {
		while (!atomic_load(&stage.used))
			port_cpu_relax();
		port_mmu_flush(1, 0, 4096, &me, 1);
		atomic_store(&stage.finished, 1);
	}
}

static void others_are_not_waited_for(void **state)
{
	(void)state;
	assert_int_equal(host_open(CPUS), 0);
	atomic_store(&stage.finished, 0);
	atomic_store(&stage.used, 0);
	assert_int_equal(host_run(one_in_section, NULL), 0);
	host_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nobody_is_in_a_frame_after_the_flush),
	    cmocka_unit_test(others_are_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
