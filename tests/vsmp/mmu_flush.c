/* SPDX-License-Identifier: MIT */
/*
 * Access sections and TLB flushes on the virtual machine.
 */
#include "tests/vsmp/fixture.h"

#include <stdatomic.h>

#include "port/cpu.h"
#include "port/mmu.h"

#define CPUS 4u

/* Time passes by atomic operations on a word of one's own. */
static _Alignas(64) _Atomic uint64_t own_word[CPUS][8];
static uint64_t left_at_cycles[CPUS], flushed_at_cycles[CPUS];

static void pass_cycles(unsigned cpu, uint64_t cycles)
{
	uint64_t end = vsmp_now_cycles() + cycles;

	while (vsmp_now_cycles() < end)
		atomic_fetch_add_explicit(&own_word[cpu][0], 1, memory_order_relaxed);
}

static void run(void (*body)(unsigned cpu, void *argument))
{
	struct message why = {""};

	fixture_create(1, CPUS, 1, CPUS, 3);
	if (vsmp_run(body, NULL, 0, &why))
		fail_msg("%s\n%s", why.text, vsmp_deadlock_report());
	vsmp_destroy();
}

/* CPU 0 is inside for long, CPU 1 for a short time, CPU 2 is in between, CPU 3 flushes. */
static void one_flushes(unsigned cpu, void *argument)
{
	const uint64_t asked = 0x8 | (argument ? 0x6 : 0x7);

	if (cpu == 3) {
		pass_cycles(cpu, 5000);
		port_mmu_flush(1, 0, 4096, &asked, 1);
		flushed_at_cycles[cpu] = vsmp_now_cycles();
		return;
	}
	port_mmu_access_begin();
	pass_cycles(cpu, cpu == 0 ? 50000 : 2000);
	port_mmu_access_end();
	left_at_cycles[cpu] = vsmp_now_cycles();
	if (cpu == 2) {
		/* A section that begins after the flush is none of its business. */
		pass_cycles(cpu, 20000);
		port_mmu_access_begin();
		pass_cycles(cpu, 200000);
		port_mmu_access_end();
	}
}

static void a_flush_waits_until_each_has_left(void **state)
{
	(void)state;
	run(one_flushes);
	assert_true(left_at_cycles[0] > 50000);
	assert_true(flushed_at_cycles[3] >= left_at_cycles[0]);
	assert_true(flushed_at_cycles[3] < left_at_cycles[0] + 10000);
}

static void ask_all_but_the_first(unsigned cpu, void *argument)
{
	(void)argument;
	one_flushes(cpu, &left_at_cycles);
}

static void who_is_not_asked_is_not_waited_for(void **state)
{
	(void)state;
	run(ask_all_but_the_first);
	assert_true(flushed_at_cycles[3] < 10000);
	assert_true(flushed_at_cycles[3] < left_at_cycles[0]);
}

/* Everybody is inside and out again, and flushes the others, all the time. */
static void all_flush(unsigned cpu, void *argument)
{
	const uint64_t all = (1u << CPUS) - 1;

	(void)argument;
	for (unsigned round = 0; round < 200; round++) {
		port_mmu_access_begin();
		pass_cycles(cpu, 100 * (1 + (round + cpu) % 7));
		port_mmu_access_end();
		left_at_cycles[cpu] = vsmp_now_cycles();
		port_mmu_flush(1, 0, 4096, &all, 1);
		assert_true(vsmp_now_cycles() > left_at_cycles[cpu]);
	}
}

static void flushes_that_meet_come_to_an_end(void **state)
{
	(void)state;
	run(all_flush);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_flush_waits_until_each_has_left),
	    cmocka_unit_test(who_is_not_asked_is_not_waited_for),
	    cmocka_unit_test(flushes_that_meet_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
