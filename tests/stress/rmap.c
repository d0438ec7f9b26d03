/* SPDX-License-Identifier: MIT */
/*
 * Threads that put pages out by the reverse map, of spaces in which others write, fork, move and unmap. Every
 * page has a pattern of its space and its number, and each look wants it whole.
 */
#include <string.h>

#include "mm/system/internal.h"
#include "softfault.h"
#include "tests/common/memory_backing.h"
#include "tests/common/rmap_work.h"
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES  4096u
#define SLOTS   4096u
#define PAGES   24u
#define WRITERS 2u /* of the four CPUs; the others put out */
#define ROUNDS  60u
/* They go on until so many pages have been put out, but not for ever. */
#define PUT_OUT_MIN 200u
#define ROUNDS_MAX  100000u

#define AT(page) (BASE + (uint64_t)(page)*PAGE)

static struct {
	struct sf_system *system;
	struct sf_space *space[WRITERS];
	_Atomic unsigned working;
	_Atomic unsigned put_out, kept;
	uint64_t seed;
} stage;

static struct memory_backing swap_file;

/* The word of a page, in a generation of its writer. */
static uint64_t pattern(unsigned writer, unsigned page, unsigned generation)
{
	return (uint64_t)(writer + 1) << 32 | page << 16 | generation;
}

static void store(struct sf_space *space, uint64_t address, uint64_t value)
{
	uint64_t words[2] = {value, ~value};

	invariant(sf_write(space, address, words, sizeof(words), NULL) == sizeof(words));
}

static void want(struct sf_space *space, uint64_t address, uint64_t value)
{
	uint64_t words[2] = {0, 0};

	invariant(sf_read(space, address, words, sizeof(words), NULL) == sizeof(words));
	invariant(words[0] == value && words[1] == ~value);
}

/* A fork has what its parent had, writes to half of it, and does not disturb the parent. */
static void fork_and_end(unsigned writer, const unsigned *generation, struct random *random)
{
	struct sf_space *space = stage.space[writer], *child = NULL;

	invariant(!sf_space_fork(space, &child));
	for (unsigned i = 0; i < PAGES; i += 1 + (unsigned)random_below(random, 3))
		store(child, AT(i), 1);
	for (unsigned i = 0; i < PAGES; i++)
		want(space, AT(i), pattern(writer, i, generation[i]));
	sf_space_destroy(child);
}

/* Out to elsewhere, and back. */
static void move(unsigned writer, const unsigned *generation, unsigned page)
{
	struct sf_space *space = stage.space[writer];
	const int flags = SF_REMAP_MAYMOVE | SF_REMAP_FIXED;
	uint64_t mapped;

	invariant(!sf_remap(space, AT(page), PAGE, PAGE, flags, AT(2 * PAGES + page), &mapped));
	want(space, AT(2 * PAGES + page), pattern(writer, page, generation[page]));
	invariant(!sf_remap(space, AT(2 * PAGES + page), PAGE, PAGE, flags, AT(page), &mapped));
}

static void write_work(unsigned writer)
{
	struct sf_space *space = stage.space[writer];
	unsigned generation[PAGES] = {0};
	struct random random;

	random_seed(&random, stage.seed + writer);
	for (unsigned i = 0; i < PAGES; i++)
		store(space, AT(i), pattern(writer, i, 0));
	for (unsigned round = 0;
	     round < ROUNDS || (round < ROUNDS_MAX && atomic_load(&stage.put_out) < PUT_OUT_MIN); round++) {
		for (unsigned i = 0; i < PAGES; i++) {
			want(space, AT(i), pattern(writer, i, generation[i]));
			if (random_below(&random, 2))
				store(space, AT(i), pattern(writer, i, ++generation[i]));
		}
		if (round % 4 == 0)
			fork_and_end(writer, generation, &random);
		if (round % 4 == 1)
			move(writer, generation, (unsigned)random_below(&random, PAGES));
		if (round % 4 == 2) {
			unsigned page = (unsigned)random_below(&random, PAGES);

			invariant(!sf_advise(space, AT(page), PAGE, SF_ADVICE_DONTNEED));
			store(space, AT(page), pattern(writer, page, ++generation[page]));
		}
	}
	atomic_fetch_sub(&stage.working, 1);
}

static void put_out_work(unsigned cpu)
{
	struct random random;

	random_seed(&random, stage.seed + cpu);
	while (atomic_load(&stage.working)) {
		struct sf_space *space = stage.space[random_below(&random, WRITERS)];
		struct rmap_outcome outcome;
		int error =
		    rmap_put_out(&stage.system->rmap, space, AT(random_below(&random, PAGES)), &outcome);

		invariant(!error || error == -ENOENT || error == -EBUSY || error == -EAGAIN);
		atomic_fetch_add(error ? &stage.kept : &stage.put_out, 1);
		if (error)
			host_yield();
	}
}

static void work(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu < WRITERS)
		write_work(cpu);
	else
		put_out_work(cpu);
}

static void no_byte_is_lost(void **state)
{
	static const char *const locks[] = {"try", "wait"};
	struct policy policy;

	(void)state;
	for (unsigned number = 0; fault_policy(number, &policy, true); number++) {
		const char *seed = getenv("SEED");

		assert_int_equal(policy_set(&policy, "rmap_lock", locks[number % 2], NULL), 0);
		stage.seed = seed ? strtoull(seed, NULL, 0) : 1;
		stage.system = fault_system(&policy, FRAMES);
		memory_backing_open(&swap_file, SLOTS * PAGE, SLOTS * PAGE);
		assert_int_equal(sf_swap_add(stage.system, &swap_file.backing, 0), 0);
		atomic_store(&stage.working, WRITERS);
		atomic_store(&stage.put_out, 0);
		atomic_store(&stage.kept, 0);
		for (unsigned i = 0; i < WRITERS; i++) {
			stage.space[i] = fault_space(stage.system);
			map_at(stage.space[i], BASE, PAGES, RW, SF_MAP_PRIVATE);
		}
		assert_int_equal(host_run(work, NULL), 0);
		assert_good(stage.system);
		print_message("%u pages put out, %u kept\n", atomic_load(&stage.put_out),
			      atomic_load(&stage.kept));
		assert_true(atomic_load(&stage.put_out) >= PUT_OUT_MIN);
		for (unsigned i = 0; i < WRITERS; i++)
			sf_space_destroy(stage.space[i]);
		fault_system_end(stage.system);
		memory_backing_close(&swap_file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(no_byte_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
