/* SPDX-License-Identifier: MIT */
/*
 * Virtual time: what single accesses cost, that CPUs run in the order of their clocks, and that a seed gives
 * the same run twice.
 */
#include <errno.h>

#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/mmu.h"
#include "port/page.h"
#include "port/spin.h"

static _Alignas(64) _Atomic uint64_t word;
static _Alignas(64) volatile uint64_t plain_word;
static _Alignas(64) _Atomic uint32_t phase;

static uint64_t spent[8];

/* --- The cost of one access ----------------------------------------------------------------------------- */

static void touch_first(unsigned cpu, void *argument)
{
	uint64_t before = vsmp_now_cycles();

	(void)cpu;
	(void)argument;
	plain_word = 1; /* nobody holds it: memory */
	spent[0] = vsmp_now_cycles() - before;
	before = vsmp_now_cycles();
	plain_word = 2; /* a hit */
	spent[1] = vsmp_now_cycles() - before;
	before = vsmp_now_cycles();
	atomic_fetch_add(&word, 1); /* memory */
	spent[2] = vsmp_now_cycles() - before;
	before = vsmp_now_cycles();
	atomic_fetch_add(&word, 1); /* an atomic hit */
	spent[3] = vsmp_now_cycles() - before;
}

static void test_cost_of_one_cpu(void **state)
{
	(void)state;
	fixture_create(1, 1, 1, 1, 1);
	assert_int_equal(vsmp_run(touch_first, NULL, 0, NULL), 0);
	vsmp_destroy();
	assert_int_equal(spent[0], 200);
	assert_int_equal(spent[1], 4);
	assert_int_equal(spent[2], 200);
	assert_int_equal(spent[3], 20);
}

/* Waits, in virtual time, by hits of an own line. */
static void work(uint64_t *own, unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		__atomic_store_n(own, i, __ATOMIC_RELAXED);
}

_Alignas(64) uint64_t own_words[1024][8];

/* CPU 0 writes early; the others read late, one after the other, so that nothing queues. */
static void read_after_write(unsigned cpu, void *argument)
{
	uint64_t before;

	(void)argument;
	work(own_words[cpu], cpu * 1000);
	before = vsmp_now_cycles();
	if (cpu == 0)
		atomic_store(&word, 7);
	else
		assert_int_equal(atomic_load(&word), 7);
	spent[cpu] = vsmp_now_cycles() - before;
}

static void test_cost_by_distance(void **state)
{
	(void)state;
	/* socket 0: CPUs 0 and 1, socket 1: CPUs 2 and 3 */
	fixture_create(2, 2, 1, 4, 1);
	assert_int_equal(vsmp_run(read_after_write, NULL, 0, NULL), 0);
	vsmp_destroy();
	assert_int_equal(spent[0], 200);      /* memory of its own socket */
	assert_int_equal(spent[1], 90);       /* modified by the other core of the socket */
	assert_int_equal(spent[2], 50 + 400); /* the way to the home socket, then the fill */
	assert_int_equal(spent[3], 40);       /* clean in its socket's cache by now */
}

static void test_siblings_share_a_cache(void **state)
{
	(void)state;
	/* one core with two threads: the second finds what the first has fetched */
	fixture_create(1, 1, 2, 2, 1);
	assert_int_equal(vsmp_run(read_after_write, NULL, 0, NULL), 0);
	vsmp_destroy();
	assert_int_equal(spent[1], 4);
}

/* --- Order ---------------------------------------------------------------------------------------------- */

static _Alignas(64) _Atomic uint64_t last_clock;
static unsigned order_breaks;

static void check_order(unsigned cpu, void *argument)
{
	struct random *random = argument;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t now, before;

		work(own_words[cpu], (unsigned)random_below(random, 20));
		before = atomic_load(&last_clock);
		now = vsmp_now_cycles();
		/* An access is made at its clock, and all that is made before it in real time was made at an
		 * earlier one. */
		if (before > now)
			order_breaks++;
		atomic_store(&last_clock, now);
	}
}

static void test_order_is_that_of_clocks(void **state)
{
	struct random random;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		random_seed(&random, seed);
		last_clock = 0;
		order_breaks = 0;
		fixture_create(4, 4, 1, 16, seed);
		assert_int_equal(vsmp_run(check_order, &random, 1000, NULL), 0);
		vsmp_destroy();
		assert_int_equal(order_breaks, 0);
	}
}

/* --- The same twice ------------------------------------------------------------------------------------- */

static uint64_t trace_hash;

static void contend(unsigned cpu, void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < 50; i++) {
		uint64_t value = atomic_fetch_add(&word, 1);

		trace_hash = (trace_hash ^ (value * 31 + cpu)) * 1099511628211ull + vsmp_now_cycles();
	}
}

static uint64_t run_contended(uint64_t seed)
{
	trace_hash = 0;
	word = 0;
	fixture_create(8, 8, 2, 128, seed);
	assert_int_equal(vsmp_run(contend, NULL, 500, NULL), 0);
	vsmp_destroy();
	assert_int_equal(word, 128 * 50);
	return trace_hash;
}

static void test_same_seed_same_run(void **state)
{
	(void)state;
	assert_true(run_contended(5) == run_contended(5));
	assert_true(run_contended(5) != run_contended(6));
}

/* --- Bandwidth, faults, interrupts ------------------------------------------------------------------------
 */

static void clear_pages(unsigned cpu, void *argument)
{
	char *memory = argument;
	uint64_t before = vsmp_now_cycles();

	for (unsigned i = 0; i < 16; i++)
		port_page_clear(memory + (cpu * 16 + i) * PORT_PAGE_SIZE, 0);
	spent[cpu] = vsmp_now_cycles() - before;
}

static void *page_memory;

static void allocate_pages(void *argument)
{
	(void)argument;
	page_memory = port_memory_alloc(4 * 16 * PORT_PAGE_SIZE, PORT_NODE_FIRST_TOUCH, NULL);
	memset(page_memory, 0xff, 4 * 16 * PORT_PAGE_SIZE);
}

static void test_cores_share_the_sockets_bandwidth(void **state)
{
	(void)state;
	/* A core alone clears 4 GB/s at 2 GHz: 2,048 cycles a page. Four cores share 8 GB/s. */
	fixture_create(1, 4, 1, 1, 1);
	assert_int_equal(vsmp_setup(allocate_pages, NULL, NULL), 0);
	assert_int_equal(vsmp_run(clear_pages, page_memory, 0, NULL), 0);
	assert_int_equal(((char *)page_memory)[5000], 0);
	vsmp_destroy();
	assert_int_equal(spent[0], 16 * 2048);

	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_setup(allocate_pages, NULL, NULL), 0);
	assert_int_equal(vsmp_run(clear_pages, page_memory, 0, NULL), 0);
	vsmp_destroy();
	assert_in_range(spent[3], 16 * 4096 - 4096, 16 * 4096 + 4096);
}

static void flush_others(unsigned cpu, void *argument)
{
	uint64_t all[1] = {0xf};
	uint64_t before;

	(void)argument;
	if (cpu == 0) {
		before = vsmp_now_cycles();
		port_mmu_flush(0, 0, 4096, all, 1);
		spent[0] = vsmp_now_cycles() - before;
		atomic_store(&phase, 1);
	} else {
		port_spin_until_u32(&phase, ~0u, 1);
		spent[cpu] = vsmp_now_cycles();
	}
}

static void test_shootdown_costs_both_sides(void **state)
{
	(void)state;
	phase = 0;
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_run(flush_others, NULL, 0, NULL), 0);
	vsmp_destroy();
	/* its own flush, three interrupts sent, and the wait for the last to be handled */
	assert_int_equal(spent[0], 500 + 3 * 100 + 500);
}

/* --- Bad configurations --------------------------------------------------------------------------------- */

static void test_bad_configurations(void **state)
{
	struct vsmp_config config = {.machine = &fixture_machine, .cpus = 1, .home_socket = -1};
	struct message why = {""};

	(void)state;
	fixture_shape(2, 4, 1);
	config.cpus = 0;
	assert_int_equal(vsmp_create(&config, &why), -EINVAL);
	assert_string_equal(why.text, "machine fixture has 1 to 8 CPUs, not 0");
	config.cpus = 9;
	assert_int_equal(vsmp_create(&config, &why), -EINVAL);
	config.cpus = 8;
	config.placement.cpus_per_socket = 3;
	assert_int_equal(vsmp_create(&config, &why), -EINVAL);
	assert_string_equal(why.text, "with at most 3 CPUs a socket, machine fixture seats 6, not 8");
	config.placement.cpus_per_socket = 0;
	config.home_socket = 2;
	assert_int_equal(vsmp_create(&config, &why), -EINVAL);
	config.home_socket = -1;
	fixture_machine.hops[0][1] = 2;
	assert_int_equal(vsmp_create(&config, &why), -EINVAL);
	fixture_machine.hops[0][1] = 1;
	fixture_machine.value[VSMP_HIT] = 0;
	assert_int_equal(vsmp_create(&config, &why), -EINVAL);
	fixture_machine.value[VSMP_HIT] = 4;
	assert_int_equal(vsmp_create(&config, &why), 0);
	assert_int_equal(vsmp_create(&config, &why), -EBUSY);
	vsmp_destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cost_of_one_cpu),
	    cmocka_unit_test(test_cost_by_distance),
	    cmocka_unit_test(test_siblings_share_a_cache),
	    cmocka_unit_test(test_order_is_that_of_clocks),
	    cmocka_unit_test(test_same_seed_same_run),
	    cmocka_unit_test(test_cores_share_the_sockets_bandwidth),
	    cmocka_unit_test(test_shootdown_costs_both_sides),
	    cmocka_unit_test(test_bad_configurations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
