/* SPDX-License-Identifier: MIT */
/*
 * Reservations, frees, look-ups and pins of the same pages by several CPUs at once, under each policy.
 */
#include "tests/unit/mm/fixture.h"

#include <string.h>

#include "mm/memtype/memtype.h"

#define CPUS   4
#define PAGES  48u
#define ROUNDS 4000

struct stage {
	struct frames *frames;
	struct memtypes *memtypes;
	uint64_t seed;
	/* Who holds a page, CPU + 1; 0 nobody. Set after a reservation, cleared before its free. */
	_Atomic unsigned holder[PAGES];
	_Atomic unsigned finished;
	_Atomic uint64_t succeeded, refused;
};

static int machine_of_four(void **state)
{
	(void)state;
	return host_open(CPUS);
}

static void stage_open(struct stage *stage, enum policy_memtype policy, uint64_t seed)
{
	memset(stage, 0, sizeof(*stage));
	stage->frames = frames_create(&(struct frames_config){.own_frames = 1, .exported_frames = PAGES - 1});
	assert_non_null(stage->frames);
	stage->memtypes = memtypes_create(stage->frames, policy);
	assert_non_null(stage->memtypes);
	stage->seed = seed;
}

/* Nothing may be reserved or claimed any more. */
static void stage_close(struct stage *stage)
{
	struct message why = {""};

	for (uint64_t page = 0; page < PAGES; page++)
		assert_int_equal(atomic_load(&pfn_to_page(stage->frames, page)->flags) & ~(uint32_t)PG_zero,
				 0);
	if (memtypes_check(stage->memtypes, 0, &why))
		fail_msg("%s", why.text);
	memtypes_destroy(stage->memtypes);
	frames_destroy(stage->frames);
}

/*
 * Who is granted a range holds every page of it alone, sees its own type in all of it as long as it holds it,
 * and can free it.
 */
static void reserve_and_free(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct random random;

	random_seed(&random, stage->seed + cpu);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t first = random_below(&random, PAGES), pages = 1 + random_below(&random, 16);
		uint64_t end = first + pages < PAGES ? first + pages : PAGES;
		enum memtype type = (enum memtype)(1 + random_below(&random, 3)), granted;
		int error = memtype_reserve(stage->memtypes, first * PAGE, end * PAGE, type, &granted);

		if (error) {
			assert_int_equal(error, -EBUSY);
			atomic_fetch_add(&stage->refused, 1);
			continue;
		}
		atomic_fetch_add(&stage->succeeded, 1);
		assert_int_equal(granted, type);
		for (uint64_t page = first; page < end; page++)
			assert_int_equal(atomic_exchange(&stage->holder[page], cpu + 1), 0);
		for (uint64_t page = first; page < end; page++)
			assert_int_equal(memtype_lookup(stage->memtypes, page * PAGE), type);
		for (uint64_t page = first; page < end; page++)
			assert_int_equal(atomic_exchange(&stage->holder[page], 0), cpu + 1);
		assert_int_equal(memtype_free(stage->memtypes, first * PAGE, end * PAGE), 0);
	}
}

static void each_page_is_granted_once(void **state)
{
	static struct stage stage;
	uint64_t seed = test_seed(1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++) {
		stage_open(&stage, all_memtype_policies[i], seed);
		assert_int_equal(host_run(reserve_and_free, &stage), 0);
		assert_int_equal(stage.succeeded + stage.refused, CPUS * ROUNDS);
		assert_true(stage.succeeded > 0);
		stage_close(&stage);
	}
}

/*
 *   page        0 ........ 7 8 ........ 39 40
 *   always                                 U    reserved before
 *   CPU 1, 2    C C C C C C C C C C C C C  C    always refused, at the last page
 *   CPU 0       W W W W W W W W                 always granted: attempts that are refused refuse nobody
 *   CPU 3       looks up 8 to 39                never sees C, which nobody was ever granted
 */
static void refused_attempts_do_not_show(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	enum memtype granted;

	if (cpu == 0) {
		for (int round = 0; round < ROUNDS; round++) {
			assert_int_equal(
			    memtype_reserve(stage->memtypes, 0, 8 * PAGE, MEMTYPE_UC_MINUS, &granted), 0);
			assert_int_equal(memtype_free(stage->memtypes, 0, 8 * PAGE), 0);
		}
		atomic_store(&stage->finished, 1);
		return;
	}
	while (!atomic_load(&stage->finished)) {
		if (cpu == 3) {
			for (uint64_t page = 8; page < 40; page++)
				assert_int_equal(memtype_lookup(stage->memtypes, page * PAGE), MEMTYPE_WB);
		} else {
			assert_int_equal(memtype_reserve(stage->memtypes, 0, 41 * PAGE, MEMTYPE_WC, &granted),
					 -EBUSY);
		}
		port_cpu_relax();
	}
}

static void a_refused_reservation_never_shows(void **state)
{
	static struct stage stage;
	enum memtype granted;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++) {
		stage_open(&stage, all_memtype_policies[i], 0);
		assert_int_equal(
		    memtype_reserve(stage.memtypes, 40 * PAGE, 41 * PAGE, MEMTYPE_UC_MINUS, &granted), 0);
		assert_int_equal(host_run(refused_attempts_do_not_show, &stage), 0);
		assert_int_equal(memtype_free(stage.memtypes, 40 * PAGE, 41 * PAGE), 0);
		stage_close(&stage);
	}
}

/* While a CPU has a page pinned, its type stays as it is, whatever the others reserve and free. */
static void pin_and_look(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct random random;

	random_seed(&random, stage->seed + cpu);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t first = random_below(&random, PAGES - 8), end = first + 1 + random_below(&random, 8);

		if (cpu % 2) {
			struct interval pin = {.start = first * PAGE, .end = end * PAGE};
			enum memtype type[8];

			memtype_pin(stage->memtypes, &pin);
			for (uint64_t page = first; page < end; page++)
				type[page - first] = memtype_lookup(stage->memtypes, page * PAGE);
			/* Long enough that another thread gets a processor in between. */
			for (int turn = 0; turn < 64; turn++)
				port_cpu_relax();
			for (uint64_t page = first; page < end; page++)
				assert_int_equal(memtype_lookup(stage->memtypes, page * PAGE),
						 type[page - first]);
			memtype_unpin(stage->memtypes, &pin);
		} else {
			enum memtype type = (enum memtype)(1 + random_below(&random, 3)), granted;
			int error =
			    memtype_reserve(stage->memtypes, first * PAGE, end * PAGE, type, &granted);

			if (error) {
				assert_int_equal(error, -EBUSY);
				continue;
			}
			do {
				error = memtype_free(stage->memtypes, first * PAGE, end * PAGE);
				if (error)
					port_cpu_relax();
			} while (error == -EBUSY);
			assert_int_equal(error, 0);
		}
	}
}

static void a_pinned_page_keeps_its_type(void **state)
{
	static struct stage stage;
	uint64_t seed = test_seed(2);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++) {
		stage_open(&stage, all_memtype_policies[i], seed);
		assert_int_equal(host_run(pin_and_look, &stage), 0);
		stage_close(&stage);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(each_page_is_granted_once, machine_of_four, machine_close),
	    cmocka_unit_test_setup_teardown(a_refused_reservation_never_shows, machine_of_four,
					    machine_close),
	    cmocka_unit_test_setup_teardown(a_pinned_page_keeps_its_type, machine_of_four, machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
