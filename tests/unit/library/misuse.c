/* SPDX-License-Identifier: MIT */
/*
 * What a program does wrong ends it with a sentence, or comes back as an error.
 */
#include <errno.h>

#include "softfault.h"
#include "tests/common/death.h"

#define RW   (SF_PROT_READ | SF_PROT_WRITE)
#define ANON (SF_MAP_PRIVATE | SF_MAP_ANONYMOUS)

struct ground {
	struct sf_system *system;
	struct sf_space *space;
	uint64_t address; /* of a page */
};

/* The calling thread is inside. */
static struct ground ground_open(void)
{
	const struct sf_options options = {.memory_bytes = 4 << 20, .cpus = 2};
	struct ground ground;

	if (sf_system_create(&options, &ground.system, NULL) || sf_thread_enter(ground.system) ||
	    sf_space_create(ground.system, &ground.space) ||
	    sf_map(ground.space, 0, SF_PAGE_SIZE, RW, ANON, &ground.address))
		_exit(1);
	return ground;
}

static void call_without_a_slot(void *unused)
{
	struct ground ground = ground_open();

	(void)unused;
	sf_thread_exit(ground.system);
	sf_touch(ground.space, ground.address, SF_READ, NULL);
}

static void exit_too_often(void *unused)
{
	struct ground ground = ground_open();

	(void)unused;
	sf_thread_exit(ground.system);
	sf_thread_exit(ground.system);
}

static void destroy_inside(void *unused)
{
	struct ground ground = ground_open();

	(void)unused;
	sf_space_destroy(ground.space);
	sf_system_destroy(ground.system);
}

static void destroy_with_a_space(void *unused)
{
	struct ground ground = ground_open();

	(void)unused;
	sf_thread_exit(ground.system);
	sf_system_destroy(ground.system);
}

static void destroy_with_a_pin(void *unused)
{
	struct ground ground = ground_open();
	struct sf_pin pin;

	(void)unused;
	sf_pin(ground.space, ground.address, SF_WRITE, &pin, NULL);
	sf_space_destroy(ground.space);
	sf_thread_exit(ground.system);
	sf_system_destroy(ground.system);
}

static void destroy_a_space_with_a_tlb(void *unused)
{
	struct ground ground = ground_open();
	struct sf_tlb *tlb;

	(void)unused;
	sf_tlb_create(ground.space, &tlb);
	sf_space_destroy(ground.space);
}

static void sentences_say_what_was_wrong(void **state)
{
	(void)state;
	expect_death(call_without_a_slot, NULL, "without sf_thread_enter()", "broken invariant");
	expect_death(exit_too_often, NULL, "sf_thread_exit() without sf_thread_enter()", "broken invariant");
	expect_death(destroy_inside, NULL, "sf_thread_exit() comes first", "broken invariant");
	expect_death(destroy_with_a_space, NULL, "sf_space_destroy() comes first", "broken invariant");
	expect_death(destroy_with_a_pin, NULL, "sf_unpin() comes first", "broken invariant");
	expect_death(destroy_a_space_with_a_tlb, NULL, "sf_tlb_destroy() comes first", "broken invariant");
}

static void ground_close(const struct ground *ground)
{
	sf_space_destroy(ground->space);
	sf_thread_exit(ground->system);
	sf_system_destroy(ground->system);
}

static void what_is_no_access_is_refused(void **state)
{
	static const int accesses[] = {0, 3, 5, 6, 7, 8, -1};
	struct ground ground = ground_open();

	(void)state;
	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		const enum sf_access access = (enum sf_access)accesses[i];
		struct sf_signal signal = {.signal = SIGSEGV};
		struct sf_pin pin;

		assert_int_equal(sf_touch(ground.space, ground.address, access, &signal), -EINVAL);
		assert_int_equal(signal.signal, 0);
		signal.signal = SIGSEGV;
		assert_null(sf_pin(ground.space, ground.address, access, &pin, &signal));
		assert_int_equal(signal.signal, 0);
		sf_unpin(ground.system, &pin);
	}
	ground_close(&ground);
}

static void a_pin_is_given_back_once(void **state)
{
	struct ground ground = ground_open();
	struct sf_system_statistics statistics;
	struct sf_pin pin = {NULL}, other;

	(void)state;
	sf_unpin(ground.system, &pin);
	assert_non_null(sf_pin(ground.space, ground.address, SF_WRITE, &pin, NULL));
	assert_non_null(sf_pin(ground.space, ground.address, SF_WRITE, &other, NULL));
	sf_unpin(ground.system, &pin);
	sf_unpin(ground.system, &pin);
	sf_system_statistics(ground.system, &statistics);
	assert_int_equal(statistics.pinned_frames, 1);
	sf_unpin(ground.system, &other);
	assert_null(sf_pin(ground.space, 0, SF_WRITE, &other, NULL));
	sf_unpin(ground.system, &other);
	ground_close(&ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sentences_say_what_was_wrong),
	    cmocka_unit_test(what_is_no_access_is_refused),
	    cmocka_unit_test(a_pin_is_given_back_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
