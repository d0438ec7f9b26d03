/* SPDX-License-Identifier: MIT */
/*
 * Where lines have their home: allocations on the node that was asked for, or that of their first toucher,
 * globals on the socket that the run says. A home shows in what memory costs from socket 0: 200 cycles at
 * home, 100 more for each hop.
 */
#include "tests/vsmp/steps.h"

static _Alignas(64) _Atomic uint64_t global;

/* Sockets 0, 1, 2 of one core, CPU 0 in socket 0: 1 hop to socket 1, 2 to socket 2. */
static void three_sockets(void)
{
	fixture_shape(3, 1, 1);
	steps_costs();
	steps_hops(0, 2, 2);
	steps_hops(1, 2, 3);
}

static void allocations_lie_on_their_node(void **state)
{
	(void)state;
	for (unsigned node = 0; node < 3; node++) {
		three_sockets();
		STEPS(3, node, {0, 1000, STEP_READ, 200 + node * 100, 0});
	}
	three_sockets();
	STEPS(3, 2, {1, 1000, STEP_READ, 200 + 3 * 100, 0});
}

static void first_touch_decides(void **state)
{
	(void)state;
	three_sockets();
	STEPS(3, PORT_NODE_FIRST_TOUCH, {2, 1000, STEP_WRITE, 200, 0},
	      /* the home is socket 2: two hops of travel, and the way of two */
	      {0, 2000, STEP_READ, 57 + 411, 0},
	      /* and it stays, whoever comes later: 2 to 0 is the farther leg of what CPU 1 invalidates */
	      {1, 3000, STEP_WRITE, 50 + 2 * 7 + 300 + 2 * 13 + 2 * 5, 0});
	three_sockets();
	STEPS(3, PORT_NODE_FIRST_TOUCH, {1, 1000, STEP_READ, 200, 0});
}

static void *freed_word;

static void allocate_free_allocate(void *argument)
{
	void *first = port_memory_alloc(64, 2, NULL);

	(void)argument;
	port_memory_free(first, 64);
	freed_word = port_memory_alloc(64, 1, NULL);
	assert_ptr_equal(freed_word, first);
}

static void memory_that_comes_again_has_a_new_home(void **state)
{
	const struct step step = {0, 1000, STEP_READ, 300, 0};

	(void)state;
	three_sockets();
	steps_create(3, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);
	assert_int_equal(vsmp_setup(allocate_free_allocate, NULL, NULL), 0);
	steps_run(&step, 1, freed_word, 0, 0);
}

static void globals_lie_where_the_run_says(void **state)
{
	(void)state;
	for (int socket = -1; socket < 3; socket++) {
		const struct step step = {0, 1000, STEP_READ, 200 + (socket < 0 ? 0 : (unsigned)socket * 100),
					  0};

		three_sockets();
		steps_create(1, (struct vsmp_placement){VSMP_FILL, 0}, socket, 1);
		steps_run(&step, 1, &global, 0, 0);
	}
}

/* Without a word said, they lie on CPU 0's socket, which need not be number 0. */
static void globals_lie_with_cpu_0(void **state)
{
	const struct step step = {0, 1000, STEP_READ, 200, 0};
	const struct step far_step = {0, 1000, STEP_READ, 200 + 3 * 100, 0};

	(void)state;
	for (int socket = -1; socket <= 1; socket += 2) {
		three_sockets();
		fixture_machine.socket_order[0] = 2;
		fixture_machine.socket_order[2] = 0;
		steps_create(1, (struct vsmp_placement){VSMP_FILL, 0}, socket, 1);
		assert_int_equal(port_cpu_node(0), 2);
		assert_int_equal(port_node_count(), 3);
		steps_run(socket < 0 ? &step : &far_step, 1, &global, 0, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(allocations_lie_on_their_node),
	    cmocka_unit_test(first_touch_decides),
	    cmocka_unit_test(memory_that_comes_again_has_a_new_home),
	    cmocka_unit_test(globals_lie_where_the_run_says),
	    cmocka_unit_test(globals_lie_with_cpu_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
