/* SPDX-License-Identifier: MIT */
/*
 * Copying in and out of a space, words, and pins.
 */
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES 512u
#define PAGES  24u

static uint64_t seed;

/* AAAABBBB..CC   A: private, B: shared, C: private, over a border of last-level tables after the second A */
#define START (BASE - 2 * PAGE)

static bool is_mapped(uint64_t page)
{
	return page < 8 || page >= 10;
}

static void lay_out(struct sf_space *space)
{
	map_at(space, START, 4, RW, SF_MAP_PRIVATE);
	map_at(space, START + 4 * PAGE, 4, RW, SF_MAP_SHARED);
	map_at(space, START + 10 * PAGE, PAGES - 10, RW, SF_MAP_PRIVATE);
}

/* How many of the bytes from `at` on are mapped. */
static size_t reach(size_t at, size_t bytes)
{
	size_t done = 0;

	while (done < bytes && at + done < PAGES * PAGE && is_mapped((at + done) / PAGE))
		done++;
	return done;
}

static void random_body(struct sf_system *system)
{
	static unsigned char model[PAGES * PAGE], buffer[PAGES * PAGE];
	struct sf_space *space = fault_space(system), *child = NULL;
	struct random random;

	random_seed(&random, seed);
	memset(model, 0, sizeof(model));
	lay_out(space);
	for (int round = 0; round < 400; round++) {
		size_t at = random_below(&random, PAGES * PAGE);
		size_t bytes = random_below(&random, random_below(&random, 2) ? 3 * PAGE : 16), expected;
		struct sf_signal signal = {0};

		expected = reach(at, bytes);
		if (random_below(&random, 2)) {
			for (size_t i = 0; i < bytes; i++)
				buffer[i] = (unsigned char)random_next(&random);
			assert_int_equal(sf_write(space, START + at, buffer, bytes, &signal), expected);
			memcpy(model + at, buffer, expected);
		} else {
			assert_int_equal(sf_read(space, START + at, buffer, bytes, &signal), expected);
			assert_memory_equal(buffer, model + at, expected);
		}
		if (expected < bytes) {
			assert_int_equal(signal.signal, SIGSEGV);
			assert_int_equal(signal.code, SEGV_MAPERR);
			assert_int_equal(signal.address, START + at + expected);
		}
		if (round == 200) {
			assert_int_equal(sf_space_fork(space, &child), 0);
			/* What the child writes to private memory is its own. */
			memset(buffer, 0xcc, 4 * PAGE);
			assert_int_equal(sf_write(child, START, buffer, 4 * PAGE, NULL), 4 * PAGE);
		}
	}
	assert_good(system);
	sf_space_destroy(child);
	sf_space_destroy(space);
}

static void copies_are_what_a_plain_array_says(void **state)
{
	const char *wanted = getenv("SEED");

	(void)state;
	seed = wanted ? strtoull(wanted, NULL, 0) : 11;
	print_message("seed %llu\n", (unsigned long long)seed);
	for_each_policy(FRAMES, random_body);
}

static void words_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system), *child = NULL;
	uint32_t word = 0;
	uint64_t wide = 0;
	struct sf_signal signal = {0};

	lay_out(space);
	assert_int_equal(sf_compare_swap_32(space, START + 4, &word, 5, NULL), 1);
	assert_int_equal(sf_compare_swap_32(space, START + 4, &word, 6, NULL), 0);
	assert_int_equal(word, 5);
	assert_int_equal(sf_compare_swap_32(space, START + 4, &word, 6, NULL), 1);
	assert_int_equal(sf_compare_swap_64(space, START, &wide, 9, NULL), 0);
	assert_true(wide == (uint64_t)6 << 32);
	assert_int_equal(sf_compare_swap_64(space, START, &wide, 9, NULL), 1);
	assert_int_equal(get_byte(space, START), 9);

	assert_int_equal(sf_compare_swap_64(space, START + 4, &wide, 9, NULL), -EINVAL);
	assert_int_equal(sf_compare_swap_32(space, START + 2, &word, 9, NULL), -EINVAL);
	assert_int_equal(sf_compare_swap_64(space, START + 8 * PAGE, &wide, 9, &signal), -EFAULT);
	assert_int_equal(signal.code, SEGV_MAPERR);
	assert_int_equal(sf_protect(space, START, PAGE, SF_PROT_READ), 0);
	assert_int_equal(sf_compare_swap_64(space, START, &wide, 9, &signal), -EFAULT);
	assert_int_equal(signal.code, SEGV_ACCERR);

	/* A shared word is one word; that of a private page is copied before it is swapped. */
	wide = 0;
	assert_int_equal(sf_protect(space, START, PAGE, RW), 0);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_int_equal(sf_compare_swap_64(space, START + 4 * PAGE, &wide, 3, NULL), 1);
	assert_int_equal(sf_compare_swap_64(child, START + 4 * PAGE, &wide, 4, NULL), 0);
	assert_int_equal(wide, 3);
	wide = 9;
	assert_int_equal(sf_compare_swap_64(child, START, &wide, 10, NULL), 1);
	assert_int_equal(get_byte(space, START), 9);
	sf_space_destroy(child);
	sf_space_destroy(space);
}

static void words_are_swapped(void **state)
{
	(void)state;
	for_each_policy(FRAMES, words_body);
}

static void pin_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	struct sf_system_statistics statistics;
	struct sf_pin write_pin, shared_pin, zero_pin, none;
	struct sf_signal signal = {0};
	unsigned char *private, *shared, *zero;

	lay_out(space);
	put_byte(space, START + 5, 1);
	private = sf_pin(space, START + 5, SF_WRITE, &write_pin, NULL);
	shared = sf_pin(space, START + 4 * PAGE, SF_READ, &shared_pin, NULL);
	zero = sf_pin(space, START + 2 * PAGE, SF_READ, &zero_pin, NULL);
	assert_non_null(private);
	assert_non_null(shared);
	assert_non_null(zero);
	assert_int_equal(*private, 1);
	assert_int_equal(*zero, 0);
	*private = 2;
	assert_int_equal(get_byte(space, START + 5), 2);
	put_byte(space, START + 4 * PAGE, 3);
	assert_int_equal(*shared, 3);
	sf_system_statistics(system, &statistics);
	assert_int_equal(statistics.pinned_frames, 2);
	assert_good(system);

	/* Whatever becomes of the mapping. */
	assert_int_equal(sf_unmap(space, START, 8 * PAGE), 0);
	assert_int_equal(*private, 2);
	assert_int_equal(*shared, 3);
	*private = 4;
	map_at(space, START, 8, RW, SF_MAP_PRIVATE);
	for (unsigned page = 0; page < 8; page++)
		put_byte(space, START + page * PAGE, 0xff);
	assert_int_equal(*private, 4);
	assert_int_equal(*shared, 3);
	assert_int_equal(*zero, 0);
	assert_good(system);
	sf_unpin(system, &write_pin);
	sf_unpin(system, &shared_pin);
	sf_unpin(system, &zero_pin);

	assert_null(sf_pin(space, START + 8 * PAGE, SF_READ, &none, &signal));
	assert_int_equal(signal.signal, SIGSEGV);
	assert_int_equal(system_map_pfn(space, START + 8 * PAGE, PAGE, FRAMES, true), 0);
	assert_null(sf_pin(space, START + 8 * PAGE, SF_READ, &none, &signal));
	assert_int_equal(signal.signal, SIGBUS);
	sf_space_destroy(space);
}

static void pins_outlive_their_mappings(void **state)
{
	(void)state;
	for_each_policy(FRAMES, pin_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(copies_are_what_a_plain_array_says),
	    fault_test(words_are_swapped),
	    fault_test(pins_outlive_their_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
