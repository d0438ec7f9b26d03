/* SPDX-License-Identifier: MIT */
/*
 * Memory types against model/memtype.c, under each policy. Pages 0 to 31 are RAM, 32 to 63 are not.
 */
#include "tests/unit/mm/fixture.h"

#include "mm/memtype/memtype.h"
#include "model/memtype.h"

#define RAM   32u
#define PAGES 64u
#define PINS  8

struct types {
	struct frames *frames;
	struct memtypes *memtypes;
};

static struct types types_open(enum policy_memtype policy)
{
	struct types types;

	types.frames = frames_create(&(struct frames_config){.own_frames = 16, .exported_frames = RAM - 16});
	assert_non_null(types.frames);
	types.memtypes = memtypes_create(types.frames, policy);
	assert_non_null(types.memtypes);
	return types;
}

static void types_close(struct types *types)
{
	memtypes_destroy(types->memtypes);
	frames_destroy(types->frames);
}

static void assert_types_good(struct types *types, uint64_t pins)
{
	struct message why = {""};

	if (memtypes_check(types->memtypes, pins, &why))
		fail_msg("%s", why.text);
}

static void assert_same(struct types *types, const struct model_memtype *model)
{
	for (uint64_t page = 0; page < PAGES; page++)
		assert_int_equal(memtype_lookup(types->memtypes, page * PAGE),
				 model_memtype_lookup(model, page * PAGE));
}

/* A random address, mostly a page's, and a range that is mostly a good one. */
static void random_range(struct random *random, uint64_t *start, uint64_t *end)
{
	*start = random_below(random, PAGES) * PAGE;
	*end = *start + (1 + random_below(random, 6)) * PAGE;
	if (*end > PAGES * PAGE)
		*end = PAGES * PAGE;
	switch (random_below(random, 40)) {
	case 0:
		*end = *start;
		break;
	case 1:
		*start += 1 + random_below(random, PAGE - 1);
		break;
	case 2:
		*end -= 1 + random_below(random, PAGE - 1);
		break;
	case 3:
		*end = *start - PAGE;
		break;
	case 4:
		*end = ((uint64_t)1 << 52) + PAGE;
		break;
	}
}

static void agrees_with_the_model(enum policy_memtype policy, uint64_t seed)
{
	static struct model_memtype model;
	struct types types = types_open(policy);
	struct interval pin[PINS] = {{0}};
	struct random random;
	uint64_t pins = 0;

	model_memtype_init(&model, RAM, PAGES);
	random_seed(&random, seed);
	for (int step = 0; step < 30000; step++) {
		enum memtype granted = MEMTYPE_DEFAULT, wanted = MEMTYPE_DEFAULT;
		enum memtype requested =
		    (enum memtype)random_below(&random, random_below(&random, 30) ? 4 : 6);
		uint64_t start, end;
		int one, other, which = (int)random_below(&random, PINS);

		random_range(&random, &start, &end);
		switch (random_below(&random, 12)) {
		case 0 ... 4:
			one = memtype_reserve(types.memtypes, start, end, requested, &granted);
			other = model_memtype_reserve(&model, start, end, requested, &wanted);
			assert_int_equal(one, other);
			if (!one)
				assert_int_equal(granted, wanted);
			else if (one == -EBUSY)
				assert_int_not_equal(granted, MEMTYPE_DEFAULT);
			break;
		case 5 ... 9:
			/* A range at random is seldom a reservation's: ask the model for one now and then. */
			if (model.reservations && random_below(&random, 2)) {
				unsigned i = (unsigned)random_below(&random, model.reservations);

				start = model.reservation[i].first * PAGE;
				end = model.reservation[i].end * PAGE;
			}
			one = memtype_free(types.memtypes, start, end);
			assert_int_equal(one, model_memtype_free(&model, start, end));
			break;
		default:
			if (pin[which].end) {
				memtype_unpin(types.memtypes, &pin[which]);
				model_memtype_pin(&model, pin[which].start, pin[which].end, -1);
				pin[which].end = 0;
				pins--;
			} else if (random_below(&random, 4) == 0 && !((start | end) % PAGE) && start < end &&
				   end <= PAGES * PAGE) {
				pin[which].start = start;
				pin[which].end = end;
				memtype_pin(types.memtypes, &pin[which]);
				model_memtype_pin(&model, start, end, 1);
				pins++;
			}
		}
		assert_same(&types, &model);
		if (step % 64 == 0)
			assert_types_good(&types, pins);
	}
	for (int i = 0; i < PINS; i++)
		if (pin[i].end)
			memtype_unpin(types.memtypes, &pin[i]);
	types_close(&types);
}

static void every_policy_agrees_with_the_model(void **state)
{
	uint64_t seed = test_seed(2010);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++)
		agrees_with_the_model(all_memtype_policies[i], seed + i);
}

/*
 *   page      0 1 2 3 4 5 6 7
 *   before    . . . . . C . .      C write-combining
 *   asked     - - B B B B - -      B write-back: refused at page 5
 *   after     . . . . . C . .
 */
static void a_refused_reservation_leaves_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++) {
		struct types types = types_open(all_memtype_policies[i]);
		enum memtype granted;

		assert_int_equal(memtype_reserve(types.memtypes, 5 * PAGE, 6 * PAGE, MEMTYPE_WC, &granted),
				 0);
		assert_int_equal(memtype_reserve(types.memtypes, 2 * PAGE, 6 * PAGE, MEMTYPE_WB, &granted),
				 -EBUSY);
		assert_int_equal(granted, MEMTYPE_WC);
		for (uint64_t page = 0; page < 8; page++) {
			uint32_t flags = atomic_load(&pfn_to_page(types.frames, page)->flags);

			assert_int_equal(flags & ~(uint64_t)PG_zero, page == 5 ? PG_memtype_wc : 0);
		}
		assert_types_good(&types, 0);
		types_close(&types);
	}
}

/*
 *   page      32 33 34 35 36 37
 *   first      C  C  C  .  .  .    C write-combining
 *   twice      .  C  C  C  .  .    same type: counted
 *   then       .  .  .  U  .  .    uncached-minus: refused
 *   default    .  .  C  C  C  .    gets what is there
 */
static void overlaps_of_one_type_are_counted(void **state)
{
	struct types types = types_open(POLICY_MEMTYPE_CMPXCHG);
	enum memtype granted;

	(void)state;
	assert_int_equal(memtype_reserve(types.memtypes, 32 * PAGE, 35 * PAGE, MEMTYPE_WC, &granted), 0);
	assert_int_equal(memtype_reserve(types.memtypes, 33 * PAGE, 36 * PAGE, MEMTYPE_WC, &granted), 0);
	assert_int_equal(memtype_reserve(types.memtypes, 33 * PAGE, 36 * PAGE, MEMTYPE_WC, &granted), 0);
	assert_int_equal(memtype_reserve(types.memtypes, 35 * PAGE, 36 * PAGE, MEMTYPE_UC_MINUS, &granted),
			 -EBUSY);
	assert_int_equal(granted, MEMTYPE_WC);
	assert_int_equal(memtype_reserve(types.memtypes, 34 * PAGE, 37 * PAGE, MEMTYPE_DEFAULT, &granted), 0);
	assert_int_equal(granted, MEMTYPE_WC);
	assert_int_equal(memtype_lookup(types.memtypes, 36 * PAGE), MEMTYPE_WC);
	assert_int_equal(memtype_free(types.memtypes, 34 * PAGE, 37 * PAGE), 0);
	assert_int_equal(memtype_lookup(types.memtypes, 36 * PAGE), MEMTYPE_UC_MINUS);
	assert_int_equal(memtype_free(types.memtypes, 33 * PAGE, 36 * PAGE), 0);
	assert_int_equal(memtype_lookup(types.memtypes, 35 * PAGE), MEMTYPE_WC);
	assert_int_equal(memtype_free(types.memtypes, 33 * PAGE, 36 * PAGE), 0);
	assert_int_equal(memtype_lookup(types.memtypes, 35 * PAGE), MEMTYPE_UC_MINUS);
	assert_int_equal(memtype_free(types.memtypes, 33 * PAGE, 36 * PAGE), -EINVAL);
	types_close(&types);
}

static void bad_ranges_are_refused(void **state)
{
	static const struct {
		uint64_t start, end;
		int error;
	} ranges[] = {
	    {0, 0, -EINVAL},
	    {PAGE, 0, -EINVAL},
	    {1, PAGE, -EINVAL},
	    {0, PAGE + 1, -EINVAL},
	    {(RAM - 1) * PAGE, (RAM + 1) * PAGE, -EINVAL},
	    {0, ((uint64_t)1 << 52) + PAGE, -EINVAL},
	    {((uint64_t)1 << 52), ((uint64_t)1 << 52) + PAGE, -EINVAL},
	    {UINT64_MAX - PAGE + 1, 0, -EINVAL},
	    {((uint64_t)1 << 52) - PAGE, (uint64_t)1 << 52, 0},
	    {(RAM - 1) * PAGE, RAM * PAGE, 0},
	    {RAM * PAGE, (RAM + 1) * PAGE, 0},
	};
	struct types types = types_open(POLICY_MEMTYPE_CMPXCHG);
	enum memtype granted;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		assert_int_equal(
		    memtype_reserve(types.memtypes, ranges[i].start, ranges[i].end, MEMTYPE_WC, &granted),
		    ranges[i].error);
		assert_int_equal(memtype_free(types.memtypes, ranges[i].start, ranges[i].end),
				 ranges[i].error);
	}
	assert_int_equal(memtype_reserve(types.memtypes, 0, PAGE, (enum memtype)4, &granted), -EINVAL);
	assert_int_equal(memtype_reserve(types.memtypes, 0, PAGE, (enum memtype) - 1, &granted), -EINVAL);
	types_close(&types);
}

/* The check itself must be able to fail. */
static void damage_is_found(void **state)
{
	struct types types = types_open(POLICY_MEMTYPE_CMPXCHG);
	struct page *page = pfn_to_page(types.frames, 3);
	struct message why = {""};
	enum memtype granted;

	(void)state;
	assert_int_equal(memtype_reserve(types.memtypes, 2 * PAGE, 5 * PAGE, MEMTYPE_WC, &granted), 0);
	assert_types_good(&types, 0);
	assert_int_equal(memtypes_check(types.memtypes, 1, &why), -EINVAL);
	page_set_flag(page, PG_memtype_claimed);
	assert_int_equal(memtypes_check(types.memtypes, 0, &why), -EINVAL);
	page_clear_flag(page, PG_memtype_claimed);
	page_clear_flag(page, PG_memtype_wc);
	assert_int_equal(memtypes_check(types.memtypes, 0, &why), -EINVAL);
	page_set_flag(page, PG_memtype_wc);
	assert_types_good(&types, 0);
	types_close(&types);
}

static void out_of_memory_changes_nothing(void **state)
{
	struct types types = types_open(POLICY_MEMTYPE_CMPXCHG);
	enum memtype granted;

	(void)state;
	host_memory_fail_after(0);
	assert_int_equal(memtype_reserve(types.memtypes, 40 * PAGE, 41 * PAGE, MEMTYPE_WC, &granted),
			 -ENOMEM);
	/* RAM needs no memory. */
	assert_int_equal(memtype_reserve(types.memtypes, 0, PAGE, MEMTYPE_WC, &granted), 0);
	host_memory_fail_never();
	assert_int_equal(memtype_lookup(types.memtypes, 40 * PAGE), MEMTYPE_UC_MINUS);
	assert_types_good(&types, 0);
	types_close(&types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(every_policy_agrees_with_the_model),
	    mm_test(a_refused_reservation_leaves_nothing),
	    mm_test(overlaps_of_one_type_are_counted),
	    mm_test(bad_ranges_are_refused),
	    mm_test(damage_is_found),
	    mm_test(out_of_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
