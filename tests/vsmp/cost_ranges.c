/* SPDX-License-Identifier: MIT */
/*
 * Accesses that are not of one word: they cost what their lines cost, one by one. So do structures that the
 * compiler copies or clears on its own.
 */
#include "tests/vsmp/steps.h"

/* 2 GHz, 200 cycles from memory, 4 a hit: a line at a time. */
#define MEMORY 200
#define HIT    4

struct __attribute__((packed)) loose {
	char before[60];
	uint64_t word; /* on two lines */
	uint32_t inside;
};

struct record {
	uint64_t words[25]; /* 200 bytes: 4 lines */
};

struct range {
	char *memory;
	uint64_t cycles[16];
	unsigned count;
};

static void allocate_range(void *argument)
{
	((struct range *)argument)->memory = port_memory_alloc(1024, 0, NULL);
}

static void lap(struct range *range, uint64_t *begin)
{
	range->cycles[range->count++] = vsmp_now_cycles() - *begin;
	*begin = vsmp_now_cycles();
}

static void run(void (*body)(unsigned cpu, void *argument), const uint64_t *expected, unsigned count)
{
	struct range *range = calloc(1, sizeof(*range));

	assert_non_null(range);
	fixture_shape(1, 1, 1);
	steps_costs();
	steps_create(1, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);
	assert_int_equal(vsmp_setup(allocate_range, range, NULL), 0);
	assert_int_equal(vsmp_run(body, range, 0, NULL), 0);
	vsmp_destroy();
	assert_int_equal(range->count, count);
	for (unsigned i = 0; i < count; i++)
		if (range->cycles[i] != expected[i])
			fail_msg("access %u took %llu cycles, not %llu", i,
				 (unsigned long long)range->cycles[i], (unsigned long long)expected[i]);
	free(range);
}

/* --- Words that lie across lines ------------------------------------------------------------------------ */

static void unaligned_body(unsigned cpu, void *argument)
{
	struct range *range = argument;
	volatile struct loose *loose = (struct loose *)range->memory;
	uint64_t begin = vsmp_now_cycles();

	(void)cpu;
	loose->word = 1;
	lap(range, &begin);
	loose->word = 2;
	lap(range, &begin);
	(void)loose->word;
	lap(range, &begin);
	(void)loose->inside;
	lap(range, &begin);
	(void)loose->before[7];
	lap(range, &begin);
}

static void an_unaligned_word_is_on_two_lines(void **state)
{
	static const uint64_t expected[] = {2 * MEMORY, 2 * HIT, 2 * HIT, HIT, HIT};

	(void)state;
	run(unaligned_body, expected, 5);
}

/* --- Memory functions ----------------------------------------------------------------------------------- */

static void functions_body(unsigned cpu, void *argument)
{
	struct range *range = argument;
	char *memory = range->memory;
	uint64_t begin = vsmp_now_cycles();

	(void)cpu;
	memset(memory, 1, 200);
	lap(range, &begin);
	memset(memory + 63, 2, 2);
	lap(range, &begin);
	memset(memory + 64, 2, 64);
	lap(range, &begin);
	memset(memory, 2, 0);
	lap(range, &begin);
	memcpy(memory + 512, memory, 128);
	lap(range, &begin);
	memmove(memory + 512, memory, 128);
	lap(range, &begin);
	range->count -= memcmp(memory + 512, memory, 128) ? 1 : 0;
	lap(range, &begin);
}

static void memory_functions_cost_by_the_line(void **state)
{
	static const uint64_t expected[] = {4 * MEMORY,           2 * HIT, HIT,    0,
					    2 * HIT + 2 * MEMORY, 4 * HIT, 4 * HIT};

	(void)state;
	run(functions_body, expected, 7);
}

/* --- What the compiler copies --------------------------------------------------------------------------- */

static __attribute__((noinline)) void copy(struct record *target, const struct record *source)
{
	*target = *source;
}

static __attribute__((noinline)) void clear(struct record *record)
{
	*record = (struct record){{0}};
}

static void structures_body(unsigned cpu, void *argument)
{
	struct range *range = argument;
	struct record *one = (struct record *)range->memory, *other = (struct record *)(range->memory + 512);
	uint64_t begin = vsmp_now_cycles();

	(void)cpu;
	clear(one);
	lap(range, &begin);
	clear(one);
	lap(range, &begin);
	copy(other, one);
	lap(range, &begin);
	copy(other, one);
	lap(range, &begin);
}

static void structures_cost_by_the_line(void **state)
{
	static const uint64_t expected[] = {4 * MEMORY, 4 * HIT, 4 * HIT + 4 * MEMORY, 8 * HIT};

	(void)state;
	run(structures_body, expected, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_unaligned_word_is_on_two_lines),
	    cmocka_unit_test(memory_functions_cost_by_the_line),
	    cmocka_unit_test(structures_cost_by_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
