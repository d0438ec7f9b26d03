/* SPDX-License-Identifier: MIT */
/*
 * The entry points against model/pfn_space.c and model/memtype.c, under each policy.
 */
#include "tests/unit/mm/fixture.h"

#include "mm/system/internal.h"
#include "mm/table/pte.h"
#include "model/pfn_space.h"
#include "tests/common/death.h"

#define OWN   200u
#define RAM   400u /* own and exported */
#define PFNS  512u /* what is not RAM too */
#define LARGE ((uintptr_t)512 * PAGE)

/* Across the border of two root entries, so that every level has a border in the window. */
#define BASE (((uintptr_t)1 << 39) - 900 * PAGE)

static void assert_same(struct sf_space *space, const struct model_pfn_space *model)
{
	for (uintptr_t i = 0; i < MODEL_WINDOW_PAGES; i++)
		assert_int_equal(system_pte(space, BASE + i * PAGE), model_pte(model, BASE + i * PAGE));
}

struct pair {
	struct sf_system *system;
	struct sf_space *space[2];
	struct model_memtype memtype;
	struct model_pfn_space model[2];
};

static void random_step(struct pair *pair, struct random *random)
{
	unsigned which = (unsigned)random_below(random, 2);
	struct sf_space *space = pair->space[which];
	struct model_pfn_space *model = &pair->model[which];
	uint64_t first = random_below(random, MODEL_WINDOW_PAGES), pages = 1 + random_below(random, 40);
	uintptr_t address;
	uint64_t pfn = random_below(random, PFNS), frames = 1 + random_below(random, 8);
	bool flag = random_below(random, 2);
	enum memtype type = (enum memtype)random_below(random, 4), granted, wanted;

	if (random_below(random, 8) == 0)
		pages *= 16;
	if (first + pages > MODEL_WINDOW_PAGES)
		pages = MODEL_WINDOW_PAGES - first;
	address = BASE + first * PAGE;
	switch (random_below(random, 16)) {
	case 0 ... 2:
		if (pages > PFNS - pfn)
			pages = PFNS - pfn;
		assert_int_equal(system_map_pfn(space, address, pages * PAGE, pfn, flag),
				 model_map_pfn(model, address, pages * PAGE, pfn, flag));
		break;
	case 3:
		assert_int_equal(sf_unmap(space, address, pages * PAGE),
				 model_unmap(model, address, pages * PAGE));
		break;
	case 4:
		if (pfn + frames > PFNS)
			frames = PFNS - pfn;
		assert_int_equal(
		    memtype_reserve(system_memtypes(pair->system), pfn * PAGE, (pfn + frames) * PAGE, type,
				    &granted),
		    model_memtype_reserve(&pair->memtype, pfn * PAGE, (pfn + frames) * PAGE, type, &wanted));
		break;
	case 5:
		if (pair->memtype.reservations && flag) {
			unsigned i = (unsigned)random_below(random, pair->memtype.reservations);

			pfn = pair->memtype.reservation[i].first;
			frames = pair->memtype.reservation[i].end - pfn;
		}
		assert_int_equal(
		    memtype_free(system_memtypes(pair->system), pfn * PAGE, (pfn + frames) * PAGE),
		    model_memtype_free(&pair->memtype, pfn * PAGE, (pfn + frames) * PAGE));
		break;
	case 6: {
		/* Bad ranges. */
		static const struct {
			uintptr_t address;
			size_t length;
		} bad[] = {
		    {BASE + 1, PAGE},
		    {BASE, PAGE - 1},
		    {BASE, 0},
		    {(uintptr_t)1 << 47, PAGE},
		    {((uintptr_t)1 << 47) - PAGE, 2 * PAGE},
		    {UINTPTR_MAX - PAGE + 1, PAGE},
		    {PAGE, SIZE_MAX - PAGE + 1},
		};
		size_t i = random_below(random, ARRAY_SIZE(bad));

		assert_int_equal(system_map_pfn(space, bad[i].address, bad[i].length, OWN, true), -EINVAL);
		assert_int_equal(model_map_pfn(model, bad[i].address, bad[i].length, OWN, true), -EINVAL);
		/* munmap rounds a length up. */
		if (bad[i].length != PAGE - 1)
			assert_int_equal(sf_unmap(space, bad[i].address, bad[i].length), -EINVAL);
		break;
	}
	default:
		/* A run of touches, so that there is something to see. */
		for (unsigned i = 0; i < 8 && first + i < MODEL_WINDOW_PAGES; i++) {
			uintptr_t at = address + i * PAGE + random_below(random, PAGE);
			bool write = random_below(random, 3) == 0;

			assert_int_equal(touch(space, at, write), model_touch(model, at, write));
		}
	}
}

static void every_policy_agrees_with_the_model(void **state)
{
	static struct pair pair;
	uint64_t seed = test_seed(2010);
	struct random random;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++) {
		random_seed(&random, seed + i);
		pair.system = system_open(all_memtype_policies[i], OWN, RAM - OWN);
		model_memtype_init(&pair.memtype, RAM, PFNS);
		for (int s = 0; s < 2; s++) {
			pair.space[s] = space_open(pair.system);
			assert_non_null(pair.space[s]);
			model_pfn_space_init(&pair.model[s], &pair.memtype, BASE, OWN);
		}
		for (int step = 0; step < 4000; step++) {
			random_step(&pair, &random);
			if (step % 16 == 0) {
				assert_same(pair.space[0], &pair.model[0]);
				assert_same(pair.space[1], &pair.model[1]);
			}
			if (step % 128 == 0)
				assert_system_good(pair.system);
		}
		/* One space with all that it has, and the other after it was emptied. */
		sf_space_destroy(pair.space[0]);
		assert_int_equal(sf_unmap(pair.space[1], BASE, MODEL_WINDOW_PAGES * PAGE), 0);
		assert_system_good(pair.system);
		sf_space_destroy(pair.space[1]);
		assert_system_good(pair.system);
		system_destroy(pair.system);
	}
}

/*
 *   mapped    AAAAAAAA  BBBB
 *   touched   x..xx..x  x..x
 *   unmapped     -----------
 *   left      AAA          B      x.. and the last x
 */
static void an_unmap_cuts_mappings(void **state)
{
	struct sf_system *system = system_open(POLICY_MEMTYPE_CMPXCHG, 64, 64);
	struct sf_space *space = space_open(system);
	static const char before[] = "x..xx..x  x..x", after[] = "x............x";

	(void)state;
	assert_int_equal(system_map_pfn(space, LARGE, 8 * PAGE, 64, true), 0);
	assert_int_equal(system_map_pfn(space, LARGE + 10 * PAGE, 4 * PAGE, 80, false), 0);
	for (unsigned i = 0; before[i]; i++)
		if (before[i] == 'x')
			assert_int_equal(touch(space, LARGE + i * PAGE, false), 0);
	assert_int_equal(sf_unmap(space, LARGE + 3 * PAGE, 10 * PAGE), 0);
	assert_system_good(system);
	for (unsigned i = 0; after[i]; i++) {
		assert_int_equal(system_pte(space, LARGE + i * PAGE) != 0, after[i] == 'x');
		assert_int_equal(touch(space, LARGE + i * PAGE, false), i < 3 || i == 13 ? 0 : -EFAULT);
	}
	/* The piece at the end still begins with its own frame. */
	assert_int_equal(pte_pfn(system_pte(space, LARGE + 13 * PAGE)), 83);
	assert_int_equal(pte_pfn(system_pte(space, LARGE + 2 * PAGE)), 66);
	assert_int_equal(system_map_pfn(space, LARGE + 2 * PAGE, PAGE, 64, true), -EEXIST);
	assert_int_equal(system_map_pfn(space, LARGE + 3 * PAGE, 10 * PAGE, 64, true), 0);
	assert_system_good(system);
	sf_space_destroy(space);
	system_destroy(system);
}

static void touches_outside_are_refused(void **state)
{
	struct sf_system *system = system_open(POLICY_MEMTYPE_SPIN, 64, 64);
	struct sf_space *space = space_open(system);

	(void)state;
	assert_int_equal(system_map_pfn(space, LARGE, 2 * PAGE, 64, false), 0);
	assert_int_equal(touch(space, LARGE - 1, false), -EFAULT);
	assert_int_equal(touch(space, LARGE + 2 * PAGE, false), -EFAULT);
	assert_int_equal(touch(space, (uintptr_t)1 << 47, false), -EFAULT);
	assert_int_equal(touch(space, UINTPTR_MAX, true), -EFAULT);
	assert_int_equal(touch(space, LARGE, true), -EACCES);
	assert_int_equal(system_pte(space, LARGE), 0);
	assert_int_equal(touch(space, LARGE, false), 0);
	assert_int_equal(touch(space, LARGE, true), -EACCES);
	sf_space_destroy(space);
	system_destroy(system);
}

/* The frames that a mapping may name: exported RAM, or what is not RAM, not both. */
static void frames_are_checked(void **state)
{
	static const struct {
		uint64_t pfn, pages;
		int error;
	} ranges[] = {
	    {63, 2, -EINVAL},
	    {0, 1, -EINVAL},
	    {64, 64, 0},
	    {127, 2, -EINVAL},
	    {128, 2, 0},
	    {FRAMES_MAX - 2, 2, 0},
	    {FRAMES_MAX - 1, 2, -EINVAL},
	    {UINT64_MAX, 2, -EINVAL},
	};
	struct sf_system *system = system_open(POLICY_MEMTYPE_CMPXCHG, 64, 64);
	struct sf_space *space = space_open(system);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		assert_int_equal(system_map_pfn(space, LARGE, ranges[i].pages * PAGE, ranges[i].pfn, true),
				 ranges[i].error);
		assert_int_equal(touch(space, LARGE + PAGE, true), ranges[i].error ? -EFAULT : 0);
		assert_system_good(system);
		assert_int_equal(sf_unmap(space, LARGE, 64 * PAGE), 0);
	}
	sf_space_destroy(space);
	system_destroy(system);
}

static void impossible_systems_are_refused(void **state)
{
	static const struct {
		uint64_t own, exported;
		int memtype;
	} bad[] = {
	    {0, 10, 0},         {1, 10, 0},   {2, FRAMES_MAX, 0}, {FRAMES_MAX + 1, 0, 0},
	    {UINT64_MAX, 2, 0}, {10, 10, 99},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct system_config config = {.policy.memtype = (enum policy_memtype)bad[i].memtype,
					       .own_frames = bad[i].own,
					       .exported_frames = bad[i].exported};
		struct sf_system *system = NULL;
		struct message why = {""};

		assert_int_equal(system_create(&config, &system, &why), -EINVAL);
		assert_null(system);
		assert_true(why.text[0]);
	}
}

/* As if a signal handler had interrupted the system itself. */
static void touch_from_inside(void *argument)
{
	struct sf_system *system;
	struct sf_space *space;

	(void)argument;
	if (host_open(1))
		return;
	system = system_open(POLICY_MEMTYPE_CMPXCHG, 64, 64);
	space = space_open(system);
	system_enter(system);
	touch(space, LARGE, false);
}

static void a_fault_inside_the_system_is_caught(void **state)
{
	(void)state;
	expect_death(touch_from_inside, NULL, "mm/system/internal.h", "!cpu->inside");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(every_policy_agrees_with_the_model),
	    mm_test(an_unmap_cuts_mappings),
	    mm_test(touches_outside_are_refused),
	    mm_test(frames_are_checked),
	    mm_test(impossible_systems_are_refused),
	    cmocka_unit_test(a_fault_inside_the_system_is_caught),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
