/* SPDX-License-Identifier: MIT */
/*
 * Where mappings go, and what limits them.
 */
#include "tests/unit/mm/space_layout.h"

#define PRIVATE (SF_MAP_PRIVATE | SF_MAP_ANONYMOUS)
#define HUGE    ((uint64_t)2 << 20)

static struct ground ground_with(uint64_t map_base, uint64_t map_min)
{
	struct system_config config = {.own_frames = 512, .map_base = map_base, .map_min = map_min};
	struct ground ground;

	assert_int_equal(system_create(&config, &ground.system, NULL), 0);
	ground.space = space_open(ground.system);
	assert_non_null(ground.space);
	return ground;
}

static uint64_t map_anywhere(struct sf_space *space, uint64_t hint, uint64_t length, int flags)
{
	uint64_t mapped = 0;

	assert_int_equal(sf_map(space, hint, length, READ_WRITE, flags | SF_MAP_ANONYMOUS, &mapped), 0);
	return mapped;
}

static void mappings_go_down_from_the_base(void **state)
{
	const uint64_t base = 64 * HUGE;
	struct ground ground = ground_with(base, 0);
	struct sf_space *space = ground.space;

	(void)state;
	assert_int_equal(map_anywhere(space, 0, 3 * PAGE, SF_MAP_PRIVATE), base - 3 * PAGE);
	assert_int_equal(map_anywhere(space, 0, PAGE + 1, SF_MAP_SHARED), base - 5 * PAGE);
	/* a hole that is left is used again */
	assert_int_equal(sf_unmap(space, base - 3 * PAGE, 2 * PAGE), 0);
	assert_int_equal(map_anywhere(space, 0, 2 * PAGE, SF_MAP_SHARED), base - 3 * PAGE);
	/* private memory of whole 2 MiB is aligned to them; shared is not */
	assert_int_equal(map_anywhere(space, 0, HUGE, SF_MAP_PRIVATE), base - 2 * HUGE);
	assert_int_equal(map_anywhere(space, 0, HUGE, SF_MAP_SHARED), base - 3 * HUGE);
	assert_int_equal(map_anywhere(space, 0, HUGE - 1, SF_MAP_PRIVATE), base - 4 * HUGE);
	assert_system_good(ground.system);
	ground_close(&ground);
}

static void hints_are_taken_where_there_is_room(void **state)
{
	const uint64_t base = 64 * HUGE;
	struct ground ground = ground_with(base, 0);
	struct sf_space *space = ground.space;

	(void)state;
	assert_int_equal(map_anywhere(space, WINDOW + 17, PAGE, SF_MAP_PRIVATE), WINDOW);
	assert_int_equal(map_anywhere(space, WINDOW + PAGE, PAGE, SF_MAP_SHARED), WINDOW + PAGE);
	assert_int_equal(map_anywhere(space, WINDOW, PAGE, SF_MAP_PRIVATE), base - PAGE);
	assert_int_equal(map_anywhere(space, WINDOW - PAGE, 2 * PAGE, SF_MAP_SHARED), base - 3 * PAGE);
	/* below the lowest address; above the highest; where it would end above */
	assert_int_equal(map_anywhere(space, PAGE, PAGE, SF_MAP_PRIVATE), SPACE_MAP_MIN);
	assert_int_equal(map_anywhere(space, SPACE_END, PAGE, SF_MAP_SHARED), base - 4 * PAGE);
	assert_int_equal(map_anywhere(space, SPACE_END - PAGE, PAGE, SF_MAP_SHARED), SPACE_END - PAGE);
	assert_system_good(ground.system);
	ground_close(&ground);
}

/* When there is no room below the base, what lies above it is used, from below. */
static void the_place_of_last_resort(void **state)
{
	const uint64_t base = 4 * HUGE, third = (SPACE_END / 3 + PAGE - 1) / PAGE * PAGE;
	struct ground ground = ground_with(base, 2 * HUGE);
	struct sf_space *space = ground.space;

	(void)state;
	assert_int_equal(map_anywhere(space, 0, 2 * HUGE, SF_MAP_SHARED), 2 * HUGE);
	assert_int_equal(map_anywhere(space, 0, PAGE, SF_MAP_SHARED), third);
	assert_int_equal(map_anywhere(space, 0, PAGE, SF_MAP_SHARED), third + PAGE);
	assert_system_good(ground.system);
	ground_close(&ground);
}

static void bad_places_are_refused(void **state)
{
	static const struct {
		uint64_t address, length;
		int flags, error;
	} bad[] = {
	    {WINDOW, 0, PRIVATE, -EINVAL},
	    {0, UINT64_MAX, PRIVATE, -ENOMEM},
	    {0, SPACE_END, PRIVATE, -ENOMEM},
	    {0, SPACE_END + PAGE, PRIVATE, -ENOMEM},
	    {WINDOW, PAGE, SF_MAP_PRIVATE, -EBADF},
	    {WINDOW, PAGE, SF_MAP_ANONYMOUS, -EINVAL},
	    {WINDOW, PAGE, PRIVATE | SF_MAP_SHARED, -EINVAL},
	    {WINDOW, PAGE, PRIVATE | 0x100, -EINVAL},
	    {WINDOW + 1, PAGE, PRIVATE | SF_MAP_FIXED, -EINVAL},
	    {0, PAGE, PRIVATE | SF_MAP_FIXED, -EPERM},
	    {SPACE_MAP_MIN - PAGE, PAGE, PRIVATE | SF_MAP_FIXED, -EPERM},
	    {SPACE_END, PAGE, PRIVATE | SF_MAP_FIXED, -ENOMEM},
	    {SPACE_END - PAGE, 2 * PAGE, PRIVATE | SF_MAP_FIXED, -ENOMEM},
	    {WINDOW + 3 * PAGE, 2 * PAGE, PRIVATE | SF_MAP_FIXED_NOREPLACE, -EEXIST},
	    {WINDOW - PAGE, 2 * PAGE, PRIVATE | SF_MAP_FIXED | SF_MAP_FIXED_NOREPLACE, -EEXIST},
	};
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	uint64_t mapped;

	(void)state;
	map_private(space, 0, 4);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(
		    sf_map(space, bad[i].address, bad[i].length, READ_WRITE, bad[i].flags, &mapped),
		    bad[i].error);
		assert_drawn_good(&ground, "AAAA");
	}
	assert_int_equal(sf_map(space, AT(4), PAGE, READ_WRITE, PRIVATE | SF_MAP_FIXED_NOREPLACE, &mapped),
			 0);
	assert_drawn(space, "AAAAA");
	ground_close(&ground);
}

static void the_size_is_limited(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	uint64_t mapped;

	(void)state;
	map_private(space, 0, 8);
	assert_int_equal(sf_set_limit(space, SF_LIMIT_ADDRESS_SPACE, 10 * PAGE + 5), 0);
	assert_int_equal(map_at(space, 10, 3, READ_WRITE, SF_MAP_PRIVATE), -ENOMEM);
	assert_drawn_good(&ground, "AAAAAAAA");
	/* what it replaces does not count, but is cut when that does not suffice */
	assert_int_equal(map_at(space, 4, 6, SF_PROT_READ, SF_MAP_PRIVATE), 0);
	assert_drawn(space, "AAAABBBBBB");
	assert_int_equal(map_at(space, 7, 4, SF_PROT_READ, SF_MAP_PRIVATE), -ENOMEM);
	assert_drawn_good(&ground, "AAAABBBCCC");
	assert_int_equal(sf_remap(space, AT(7), 3 * PAGE, 4 * PAGE, SF_REMAP_MAYMOVE, 0, &mapped), -ENOMEM);
	assert_int_equal(sf_set_limit(space, SF_LIMIT_ADDRESS_SPACE, UINT64_MAX), 0);
	assert_int_equal(sf_remap(space, AT(7), 3 * PAGE, 4 * PAGE, SF_REMAP_MAYMOVE, 0, &mapped), 0);
	assert_drawn_good(&ground, "AAAABBBCCCC");
	ground_close(&ground);
}

static void locked_memory_is_limited(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	struct sf_space_statistics statistics;
	unsigned char resident[8];

	(void)state;
	assert_int_equal(sf_set_limit(space, SF_LIMIT_LOCKED, 4 * PAGE), 0);
	map_private(space, 0, 8);
	assert_int_equal(sf_lock(space, AT(0), 5 * PAGE), -ENOMEM);
	assert_int_equal(sf_lock(space, AT(0), 3 * PAGE), 0);
	/* what is locked already does not count twice */
	assert_int_equal(sf_lock(space, AT(1), 3 * PAGE), 0);
	sf_space_statistics(space, &statistics);
	assert_int_equal(statistics.locked, 4 * PAGE);
	assert_int_equal(statistics.resident, 4 * PAGE);
	assert_int_equal(sf_mincore(space, AT(0), 8 * PAGE, resident), 0);
	for (unsigned page = 0; page < 8; page++)
		assert_int_equal(resident[page], page < 4);
	assert_int_equal(map_at(space, 10, 1, READ_WRITE, SF_MAP_PRIVATE | SF_MAP_LOCKED), -EAGAIN);
	assert_int_equal(sf_advise(space, AT(0), 8 * PAGE, SF_ADVICE_DONTNEED), -EINVAL);
	assert_int_equal(sf_unlock(space, AT(0), PAGE), 0);
	assert_int_equal(map_at(space, 10, 1, READ_WRITE, SF_MAP_PRIVATE | SF_MAP_LOCKED), 0);
	assert_int_equal(sf_mincore(space, AT(10), PAGE, resident), 0);
	assert_int_equal(resident[0], 1);
	assert_int_equal(sf_set_limit(space, SF_LIMIT_LOCKED, 0), 0);
	assert_int_equal(map_at(space, 12, 1, READ_WRITE, SF_MAP_PRIVATE | SF_MAP_LOCKED), -EPERM);
	assert_int_equal(sf_lock(space, AT(0), PAGE), -EPERM);
	assert_drawn_good(&ground, "ABBBCCCC..D");
	ground_close(&ground);
}

static void the_number_of_mappings_is_limited(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	uint64_t mapped;

	(void)state;
	map_private(space, 0, 8);
	map_private(space, 10, 2);
	assert_int_equal(sf_set_limit(space, SF_LIMIT_MAP_COUNT, 2), 0);
	/* A hole in the middle makes one more, an end does not; a map may be one above. */
	assert_int_equal(sf_unmap(space, AT(3), PAGE), -ENOMEM);
	assert_int_equal(map_at(space, 3, 1, SF_PROT_READ, SF_MAP_PRIVATE), -ENOMEM);
	assert_int_equal(sf_protect(space, AT(0), PAGE, SF_PROT_READ), -ENOMEM);
	assert_int_equal(sf_advise(space, AT(0), PAGE, SF_ADVICE_HUGEPAGE), -EAGAIN);
	assert_int_equal(
	    sf_remap(space, AT(0), PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED, AT(20), &mapped), -ENOMEM);
	assert_drawn_good(&ground, "AAAAAAAA..BB");
	assert_int_equal(sf_unmap(space, AT(0), PAGE), 0);
	map_private(space, 20, 2);
	assert_int_equal(map_at(space, 30, 2, READ_WRITE, SF_MAP_PRIVATE), -ENOMEM);
	assert_drawn_good(&ground, ".AAAAAAA..BB........CC");
	/* Of the two splits of a middle there is room for one, which stays. */
	assert_int_equal(sf_set_limit(space, SF_LIMIT_MAP_COUNT, 4), 0);
	assert_int_equal(sf_protect(space, AT(3), PAGE, SF_PROT_READ), -ENOMEM);
	assert_drawn_good(&ground, ".AABBBBB..CC........DD");
	ground_close(&ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(mappings_go_down_from_the_base),
	    mm_test(hints_are_taken_where_there_is_room),
	    mm_test(the_place_of_last_resort),
	    mm_test(bad_places_are_refused),
	    mm_test(the_size_is_limited),
	    mm_test(locked_memory_is_limited),
	    mm_test(the_number_of_mappings_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
