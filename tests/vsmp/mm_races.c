/* SPDX-License-Identifier: MIT */
/*
 * Races of mm/ on the virtual machine, where every seed is another interleaving down to single accesses: pins
 * against reservations, faults against unmaps.
 */
#include "tests/vsmp/fixture.h"

#include <errno.h>
#include <string.h>

#include "mm/system/system.h"
#include "mm/table/pte.h"
#include "port/cpu.h"

#define CPUS   8u
#define SEEDS  12u
#define OWN    512u
#define LOOKED 6u /* pages that are pinned at once; reservations are of more, so that they take longer */
#define PAGES  64u
#define PAGE   PORT_PAGE_SIZE
#define LARGE  ((uintptr_t)512 * PAGE)
#define BASE   (7 * LARGE - 8 * PAGE) /* on both sides of a border of last-level tables */

static struct sf_system *memory_system;
static struct sf_space *space;
static enum policy_memtype policy;
static uint64_t seed;
static _Atomic unsigned finished;

/* Makes an empty space; NULL when that fails. */
static struct sf_space *space_open(struct sf_system *system)
{
	struct sf_space *made;

	return sf_space_create(system, &made) ? NULL : made;
}

static int touch(struct sf_space *touched, uint64_t address, bool write)
{
	return sf_touch(touched, address, write ? SF_WRITE : SF_READ, NULL);
}

static void set_up(void *argument)
{
	struct system_config config = {
	    .policy.memtype = policy, .own_frames = OWN, .exported_frames = 4096, .structure_only = true};

	(void)argument;
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	space = space_open(memory_system);
	assert_non_null(space);
	atomic_store(&finished, 0);
}

static void tear_down(void *argument)
{
	struct message why = {""};

	(void)argument;
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	sf_space_destroy(space);
	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
	system_destroy(memory_system);
}

static void run_seeds(void (*body)(unsigned cpu, void *argument))
{
	for (seed = 1; seed <= SEEDS; seed++) {
		struct message why = {""};

		fixture_create(2, 4, 1, CPUS, seed);
		if (vsmp_setup(set_up, NULL, &why) || vsmp_run(body, NULL, 2000, &why) ||
		    vsmp_setup(tear_down, NULL, &why))
			fail_msg("seed %llu: %s", (unsigned long long)seed, why.text);
		vsmp_destroy();
	}
}

/* Half of the CPUs reserve and free; the others pin pages, and see one type of each as long as they do. */
static void pin_and_reserve(unsigned cpu, void *argument)
{
	struct memtypes *memtypes = system_memtypes(memory_system);
	struct random random;

	(void)argument;
	random_seed(&random, seed * CPUS + cpu);
	for (unsigned round = 0; round < 60; round++) {
		uint64_t first = random_below(&random, 24), pages = 1 + random_below(&random, LOOKED);
		uint64_t start = first * PAGE, end = start + pages * PAGE;
		enum memtype type = (enum memtype)(1 + random_below(&random, 3)), granted, seen[LOOKED];
		struct interval pin = {.start = start, .end = end};
		int error;

		if (cpu % 2) {
			memtype_pin(memtypes, &pin);
			for (unsigned look = 0; look < 4; look++)
				for (uint64_t page = pages; page-- > 0;) {
					type = memtype_lookup(memtypes, start + page * PAGE);
					if (!look)
						seen[page] = type;
					assert_int_equal(type, seen[page]);
				}
			memtype_unpin(memtypes, &pin);
			continue;
		}
		pages += 3 * LOOKED;
		end = start + pages * PAGE;
		error = memtype_reserve(memtypes, start, end, type, &granted);
		if (error) {
			assert_int_equal(error, -EBUSY);
			continue;
		}
		for (uint64_t page = 0; page < pages; page++)
			assert_int_equal(memtype_lookup(memtypes, start + page * PAGE), type);
		while ((error = memtype_free(memtypes, start, end)) == -EBUSY)
			;
		assert_int_equal(error, 0);
	}
}

static void pinned_pages_keep_their_type(void **state)
{
	static const enum policy_memtype policies[] = {POLICY_MEMTYPE_CMPXCHG, POLICY_MEMTYPE_SPIN,
						       POLICY_MEMTYPE_RWLOCK};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(policies); i++) {
		policy = policies[i];
		run_seeds(pin_and_reserve);
	}
}

/* CPU 0 maps and unmaps; the others touch. After an unmap there is no entry, and none comes. */
static void touch_and_unmap(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, seed * CPUS + cpu);
	while (cpu && !atomic_load(&finished)) {
		uintptr_t address = BASE + random_below(&random, PAGES) * PAGE;
		int error = touch(space, address, random_below(&random, 2));

		assert_true(error == 0 || error == -EFAULT);
	}
	for (unsigned round = 0; !cpu && round < 40; round++) {
		uint64_t pfn = OWN + random_below(&random, 4096 - PAGES);

		assert_int_equal(system_map_pfn(space, BASE, PAGES * PAGE, pfn, true), 0);
		for (unsigned i = 0; i < PAGES; i++) {
			uint64_t pte = system_pte(space, BASE + i * PAGE);

			assert_true(!pte || pte_pfn(pte) == pfn + i);
		}
		if (round % 2)
			assert_int_equal(sf_unmap(space, BASE, PAGES * PAGE), 0);
		else
			assert_int_equal(sf_unmap(space, 6 * LARGE, 2 * LARGE), 0);
		for (unsigned i = 0; i < 2 * PAGES; i++)
			assert_int_equal(system_pte(space, BASE + i % PAGES * PAGE), 0);
	}
	if (!cpu)
		atomic_store(&finished, 1);
}

static void no_entry_appears_after_an_unmap(void **state)
{
	(void)state;
	policy = POLICY_MEMTYPE_CMPXCHG;
	run_seeds(touch_and_unmap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pinned_pages_keep_their_type),
	    cmocka_unit_test(no_entry_appears_after_an_unmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
