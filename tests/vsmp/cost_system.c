/* SPDX-License-Identifier: MIT */
/*
 * Costs of what is no access of one line: whole pages, faults, shootdowns.
 */
#include "tests/vsmp/steps.h"

#define PAGES (5 * PORT_PAGE_SIZE)

/* The steps on `PAGES` bytes; all times are to the cycle. */
#define PAGE_STEPS(cpus, node, ...)                                                    \
	do {                                                                           \
		const struct step list_[] = {__VA_ARGS__};                             \
                                                                                       \
		steps_create(cpus, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);      \
		steps_run(list_, sizeof(list_) / sizeof(list_[0]), NULL, PAGES, node); \
	} while (0)

/* A core moves 4 GB/s at 2 GHz, 2,048 cycles a page; its socket `socket_gigabytes`. */
static void machine_of(unsigned sockets, unsigned cores, double socket_gigabytes)
{
	fixture_shape(sockets, cores, 1);
	steps_costs();
	fixture_machine.value[VSMP_CLEAR_SOCKET] = socket_gigabytes;
}

static void clearing_pages(void **state)
{
	(void)state;
	machine_of(1, 2, 8);
	PAGE_STEPS(2, 0, {0, 10000, STEP_CLEAR, 2048, 0}, {1, 20000, STEP_CLEAR, 2048, 0});
	/* twice the clock, twice the cycles */
	machine_of(1, 2, 8);
	fixture_machine.gigahertz = 4;
	PAGE_STEPS(2, 0, {0, 10000, STEP_CLEAR, 4096, 0});
	/* one socket's memory serves one page after the other, 4,096 cycles each */
	machine_of(1, 3, 2);
	PAGE_STEPS(3, 0, {0, 10000, STEP_CLEAR, 4096, 0}, {1, 10000, STEP_CLEAR, 8192, 0},
		   {2, 10100, STEP_CLEAR, 12288 - 100, 0}, {0, 30000, STEP_CLEAR, 4096, 0});
	/* another socket has a memory of its own */
	machine_of(2, 1, 2);
	PAGE_STEPS(2, 0, {0, 10000, STEP_CLEAR, 4096, 0}, {1, 10000, STEP_CLEAR, 4096, 0});
}

/* What a page is copied to is in the copier's cache then, modified; and twice as much is moved. */
static void copying_pages(void **state)
{
	(void)state;
	machine_of(1, 2, 8);
	PAGE_STEPS(2, 0, {0, 10000, STEP_COPY, 4096, 0}, {1, 20000, STEP_COPY, 4096, 0});
	machine_of(1, 2, 2);
	PAGE_STEPS(2, 0, {0, 10000, STEP_COPY, 8192, 0}, {1, 10000, STEP_COPY, 16384, 0});
}

static void *page;

static void allocate_page(void *argument)
{
	(void)argument;
	page = port_memory_alloc(2 * PORT_PAGE_SIZE, PORT_NODE_FIRST_TOUCH, NULL);
	memset(page, 0x5a, 2 * PORT_PAGE_SIZE);
}

/* Words of the pages before and after CPU 1, in another socket, has copied the first onto the second. */
static void look_around_a_copy(unsigned cpu, void *argument)
{
	uint64_t *costs = argument, begin;
	volatile uint64_t *source = page, *target = (uint64_t *)((char *)page + PORT_PAGE_SIZE);

	if (cpu == 1) {
		steps_wait(10000);
		port_page_copy((void *)target, (void *)source, 0);
		begin = vsmp_now_cycles();
		(void)target[511];
		costs[0] = vsmp_now_cycles() - begin;
		begin = vsmp_now_cycles();
		(void)source[0];
		costs[1] = vsmp_now_cycles() - begin;
	} else {
		steps_wait(30000);
		begin = vsmp_now_cycles();
		costs[2] = target[0];
		costs[3] = vsmp_now_cycles() - begin;
	}
}

static void a_copy_lies_with_who_made_it(void **state)
{
	uint64_t *costs = calloc(4, sizeof(*costs));

	(void)state;
	machine_of(2, 1, 8);
	steps_create(2, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);
	assert_int_equal(vsmp_setup(allocate_page, NULL, NULL), 0);
	assert_int_equal(vsmp_run(look_around_a_copy, costs, 0, NULL), 0);
	vsmp_destroy();
	assert_int_equal(costs[0], 4);   /* the target is the copier's */
	assert_int_equal(costs[1], 200); /* the source's lines are not looked at: memory still */
	assert_true(costs[2] == 0x5a5a5a5a5a5a5a5a);
	assert_int_equal(costs[3], 50 + 400); /* its home is the copier's socket, where it is modified */
	free(costs);
}

static void faults(void **state)
{
	(void)state;
	fixture_shape(1, 1, 1);
	steps_costs();
	fixture_machine.value[VSMP_FAULT_EXCEPTION] = 1000;
	fixture_machine.value[VSMP_FAULT_PATH] = 300;
	STEPS(1, 0, {0, 0, STEP_FAULT, 1300, 0});
}

/* Sending is 100 for each target, handling 500, own flush 500. */
static void shootdowns(void **state)
{
	(void)state;
	/* The target loses the time before the first turn that it takes after that, once. */
	fixture_shape(1, 3, 1);
	steps_costs();
	STEPS(3, 0, {1, 1000, STEP_WRITE, 200, 0}, {0, 2000, STEP_FLUSH, 500 + 100 + 500, 0},
	      {1, 8000, STEP_WRITE, 500 + 4, 0}, {1, 9000, STEP_READ, 4, 0}, {1, 11000, STEP_READ, 4, 0},
	      {2, 12000, STEP_READ, 90, 0});
	/* Two interrupts before its next turn. */
	fixture_shape(1, 3, 1);
	steps_costs();
	STEPS(3, 0, {1, 1000, STEP_WRITE, 200, 0}, {0, 2000, STEP_FLUSH, 1100, 0},
	      {2, 2000, STEP_FLUSH, 1100, 0}, {1, 8000, STEP_WRITE, 1000 + 4, 0}, {1, 9000, STEP_READ, 4, 0});
	/* Its own translations alone need no interrupt. */
	fixture_shape(1, 2, 1);
	steps_costs();
	STEPS(2, 0, {1, 1000, STEP_FLUSH, 500, 0}, {0, 9000, STEP_FAULT, 1, 0});
	/* A CPU that has returned loses nothing and is sent its interrupt all the same. */
	fixture_shape(1, 2, 1);
	steps_costs();
	STEPS(2, 0, {0, 5000, STEP_FLUSH, 1100, 0});
}

static void turns_of_a_loop(void **state)
{
	(void)state;
	fixture_shape(1, 1, 1);
	steps_costs();
	STEPS(1, 0, {0, 1000, STEP_RELAX, 10, 0}, {0, 2000, STEP_RELAX, 10, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clearing_pages),
	    cmocka_unit_test(copying_pages),
	    cmocka_unit_test(a_copy_lies_with_who_made_it),
	    cmocka_unit_test(faults),
	    cmocka_unit_test(shootdowns),
	    cmocka_unit_test(turns_of_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
