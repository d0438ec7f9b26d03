/* SPDX-License-Identifier: MIT */
/*
 * Threads read, write, fork, drop and reclaim pages over a device that is late and fails:
 * tests/common/swap_work.h. After each round nothing runs, and all slots must fit.
 */
#include "tests/common/swap_work.h"

#include "host/swap_compressed.h"
#include "tests/unit/mm/frames_fixture.h"

#define ROUNDS 24u

static int machine_open(void **state)
{
	(void)state;
	return host_open(WORK_CPUS);
}

static int machine_close(void **state)
{
	(void)state;
	host_close();
	return host_memory_in_use_bytes() ? -1 : 0;
}

static void run(unsigned fails, struct sf_backing *backing)
{
	uint64_t seed = test_seed();
	const char *wrong;

	swap_work_open(8, backing);
	for (unsigned round = 0; round < ROUNDS; round++) {
		swap_work_arm(1500, seed + round, fails);
		run_cpus(swap_work_run, NULL);
		if ((wrong = swap_work_check()))
			fail_msg("round %u: %s", round, wrong);
	}
	print_message("%llu pages out, %llu in, %llu times full, errors: %llu reads, %llu writes\n",
		      (unsigned long long)swap_work.outs, (unsigned long long)swap_work.ins,
		      (unsigned long long)swap_work.full, (unsigned long long)swap_work.read_errors,
		      (unsigned long long)swap_work.write_errors);
	assert_true(swap_work.outs > ROUNDS && swap_work.ins > ROUNDS);
	assert_int_equal(swap_work.read_errors != 0, fails != 0);
	assert_int_equal(swap_work.write_errors != 0, fails != 0 || backing);
	if ((wrong = swap_work_close()))
		fail_msg("%s", wrong);
}

static void no_byte_is_lost(void **state)
{
	(void)state;
	run(0, NULL);
}

static void no_byte_is_lost_when_transfers_fail(void **state)
{
	(void)state;
	run(20, NULL);
}

/* Of one slab: there is not always room for all that is to leave. */
static void no_byte_is_lost_in_compressed_memory(void **state)
{
	struct sf_backing *backing;

	(void)state;
	assert_int_equal(host_swap_compressed_create(WORK_SLOTS, 16384, &backing), 0);
	run(0, backing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(no_byte_is_lost, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(no_byte_is_lost_when_transfers_fail, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(no_byte_is_lost_in_compressed_memory, machine_open,
					    machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
