/* SPDX-License-Identifier: MIT */
/*
 * Every fault enters the memory system from a signal handler that has interrupted user code: real memory
 * without access stands for the program's, its SIGSEGV for the page fault. So the fault path may call nothing
 * that a signal handler may not.
 */
#include "tests/unit/mm/fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "port/cpu.h"

#define CPUS  4
#define OWN   4096u
#define PAGES 1024u
#define BASE  ((uintptr_t)1 << 32)

static struct sf_space *space;
static unsigned char *window[CPUS]; /* each CPU's own view of its part of the space */
static _Atomic unsigned faults;

static uintptr_t part_of(unsigned cpu)
{
	return BASE + cpu * PAGES * PAGE;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	unsigned cpu = port_cpu();
	size_t offset = (size_t)((unsigned char *)info->si_addr - window[cpu]);

	(void)signal;
	(void)context;
	/* A fault of the test itself, or one that the memory system did not settle, ends the program. */
	if (offset >= PAGES * PAGE || touch(space, part_of(cpu) + offset, offset / PAGE % 2) ||
	    mprotect(window[cpu] + offset / PAGE * PAGE, PAGE, PROT_READ | PROT_WRITE))
		abort();
	atomic_fetch_add(&faults, 1);
}

static void be_a_program(unsigned cpu, void *argument)
{
	volatile unsigned char *memory = window[cpu];
	unsigned sum = 0;

	(void)argument;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned page = 0; page < PAGES; page++) {
			size_t byte = page * PAGE + page * 3 % PAGE;

			if (page % 2)
				memory[byte] = (unsigned char)page;
			else
				sum += memory[byte];
		}
		if (round)
			break;
		/* What a system call would be: user code is not running, so no fault comes in between. */
		assert_int_equal(sf_unmap(space, part_of(cpu), PAGES / 2 * PAGE), 0);
		assert_int_equal(
		    system_map_pfn(space, part_of(cpu), PAGES / 2 * PAGE, OWN + cpu * PAGES, true), 0);
		assert_int_equal(mprotect(window[cpu], PAGES / 2 * PAGE, PROT_NONE), 0);
	}
	assert_int_equal(sum, 0);
}

static int machine_of_four(void **state)
{
	(void)state;
	return host_open(CPUS);
}

static void faults_enter_from_a_signal_handler(void **state)
{
	struct sf_system *system = system_open(POLICY_MEMTYPE_CMPXCHG, OWN, CPUS * PAGES);
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;

	(void)state;
	atomic_store(&faults, 0);
	space = space_open(system);
	assert_non_null(space);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		window[cpu] =
		    mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		assert_ptr_not_equal(window[cpu], MAP_FAILED);
		assert_int_equal(system_map_pfn(space, part_of(cpu), PAGES * PAGE, OWN + cpu * PAGES, true),
				 0);
	}
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(host_run(be_a_program, NULL), 0);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_int_equal(faults, CPUS * (PAGES + PAGES / 2));
	assert_system_good(system);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		for (unsigned page = 0; page < PAGES; page++)
			assert_int_not_equal(system_pte(space, part_of(cpu) + page * PAGE), 0);
		munmap(window[cpu], PAGES * PAGE);
	}
	sf_space_destroy(space);
	system_destroy(system);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(faults_enter_from_a_signal_handler, machine_of_four,
					    machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
