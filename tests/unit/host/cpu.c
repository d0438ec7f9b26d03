/* SPDX-License-Identifier: MIT */
#include "host/cpu.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "host/memory.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/panic.h"
#include "port/spin.h"
#include "port/wait.h"
#include "tests/common/death.h"
#include "tests/common/on_cpus.h"

static void open_checks_its_number(void **state)
{
	(void)state;
	assert_int_equal(host_open(0), -EINVAL);
	assert_int_equal(host_open(PORT_CPUS_MAX + 1), -EINVAL);
	assert_int_equal(host_open(3), 0);
	assert_int_equal(host_open(3), -EBUSY);
	assert_int_equal(port_cpu_count(), 3);
	assert_int_equal(port_cpu(), 0);
	host_close();
	host_close();
	assert_int_equal(host_open(1), 0);
	host_close();
}

static _Atomic unsigned runs[PORT_CPUS_MAX];

static void note_cpu(unsigned cpu, void *argument)
{
	cpu_set_t mask;

	invariant(argument == &runs);
	invariant(cpu < port_cpu_count() && port_cpu() == cpu);
	invariant(port_cpu_node(cpu) < port_node_count());
	/* Pinned to one processor. */
	invariant(sched_getaffinity(0, sizeof(mask), &mask) == 0 && CPU_COUNT(&mask) == 1);
	atomic_fetch_add(&runs[cpu], 1);
}

static void each_cpu_runs_once(void **state)
{
	static const unsigned counts[] = {1, 2, 9, 64};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		memset(runs, 0, sizeof(runs));
		assert_int_equal(host_open(counts[i]), 0);
		run_cpus(note_cpu, &runs);
		run_cpus(note_cpu, &runs);
		host_close();
		for (unsigned cpu = 0; cpu < PORT_CPUS_MAX; cpu++)
			assert_int_equal(runs[cpu], cpu < counts[i] ? 2 : 0);
	}
}

static _Atomic uint32_t sleep_word;
static _Atomic uint32_t asleep;
static _Atomic uint16_t spin_word;

/* All but CPU 0 sleep until the word changes, then CPU 0 spins until each has added one. */
static void sleep_and_wake(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu) {
		atomic_fetch_add(&asleep, 1);
		while (atomic_load(&sleep_word) == 7)
			port_wait(&sleep_word, 7);
		/* The word differs: does not sleep, or nobody would come. */
		port_wait(&sleep_word, 7);
		atomic_fetch_add(&spin_word, 1);
		return;
	}
	port_spin_until_u32(&asleep, UINT32_MAX, port_cpu_count() - 1);
	atomic_store(&sleep_word, 8);
	port_wake(&sleep_word, UINT32_MAX);
	invariant(port_spin_until_u16(&spin_word, 0xff, (uint16_t)(port_cpu_count() - 1)) ==
		  0xab00 + port_cpu_count() - 1);
}

static void sleepers_wake(void **state)
{
	(void)state;
	atomic_store(&sleep_word, 7);
	atomic_store(&asleep, 0);
	atomic_store(&spin_word, 0xab00);
	assert_int_equal(host_open(5), 0);
	run_cpus(sleep_and_wake, NULL);
	host_close();
}

static void memory_is_zeroed_aligned_and_counted(void **state)
{
	static const size_t sizes[] = {1, 63, 64, 65, 4095, 4096, 4097, 1 << 20};

	(void)state;
	assert_int_equal(host_open(1), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int round = 0; round < 2; round++) {
			unsigned char *memory =
			    port_memory_alloc(sizes[i], round ? 0 : PORT_NODE_FIRST_TOUCH, NULL);

			assert_non_null(memory);
			assert_int_equal(
			    (uintptr_t)memory % (sizes[i] < PORT_PAGE_SIZE ? 64 : PORT_PAGE_SIZE), 0);
			assert_int_equal(host_memory_in_use_bytes(), sizes[i]);
			for (size_t at = 0; at < sizes[i]; at++)
				assert_int_equal(memory[at], 0);
			memset(memory, 0xff, sizes[i]);
			port_memory_free(memory, sizes[i]);
			assert_int_equal(host_memory_in_use_bytes(), 0);
		}
	}
	port_memory_free(NULL, 4096);
	/* More than the machine has: reserved, not used. */
	char *table = port_memory_alloc((size_t)1 << 40, 0, "char");

	assert_non_null(table);
	table[(size_t)1 << 39] = 1;
	port_memory_free(table, (size_t)1 << 40);
	assert_null(port_memory_alloc(SIZE_MAX, 0, NULL));
	host_close();
}

static void memory_runs_out_when_told(void **state)
{
	void *first, *second;

	(void)state;
	assert_int_equal(host_open(1), 0);
	host_memory_fail_after(2);
	first = port_memory_alloc(10, 0, NULL);
	second = port_memory_alloc(10000, 0, NULL);
	assert_non_null(first);
	assert_non_null(second);
	assert_null(port_memory_alloc(10, 0, NULL));
	assert_null(port_memory_alloc(10000, 0, NULL));
	assert_int_equal(host_memory_in_use_bytes(), 10010);
	port_memory_free(first, 10);
	assert_null(port_memory_alloc(10, 0, NULL));
	host_memory_fail_never();
	first = port_memory_alloc(10, 0, NULL);
	assert_non_null(first);
	port_memory_free(first, 10);
	port_memory_free(second, 10000);
	assert_int_equal(host_memory_in_use_bytes(), 0);
	host_close();
}

static void pages_are_cleared_and_copied(void **state)
{
	unsigned char *pages;

	(void)state;
	assert_int_equal(host_open(1), 0);
	pages = port_memory_alloc(2 * PORT_PAGE_SIZE, 0, NULL);
	assert_non_null(pages);
	memset(pages, 0x5a, 2 * PORT_PAGE_SIZE);
	port_page_clear(pages, 1);
	assert_int_equal(pages[0], 0x5a);
	port_page_clear(pages, 0);
	assert_int_equal(pages[PORT_PAGE_SIZE - 1], 0);
	assert_int_equal(pages[PORT_PAGE_SIZE], 0x5a);
	port_page_copy(pages, pages + PORT_PAGE_SIZE, 1);
	assert_int_equal(pages[0], 0);
	port_page_copy(pages, pages + PORT_PAGE_SIZE, 0);
	assert_int_equal(pages[0], 0x5a);
	assert_int_equal(pages[PORT_PAGE_SIZE - 1], 0x5a);
	port_memory_free(pages, 2 * PORT_PAGE_SIZE);
	host_close();
}

static void break_invariant(void *unused)
{
	(void)unused;
	invariant(1 + 1 == 3);
}

static void panic_tells_where(void **state)
{
	(void)state;
	expect_death(break_invariant, NULL, "tests/unit/host/cpu.c:", "broken invariant: 1 + 1 == 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(open_checks_its_number),
	    cmocka_unit_test(each_cpu_runs_once),
	    cmocka_unit_test(sleepers_wake),
	    cmocka_unit_test(memory_is_zeroed_aligned_and_counted),
	    cmocka_unit_test(memory_runs_out_when_told),
	    cmocka_unit_test(pages_are_cleared_and_copied),
	    cmocka_unit_test(panic_tells_where),
	};

	return cmocka_run_group_tests_name("host/cpu", tests, NULL, NULL);
}
