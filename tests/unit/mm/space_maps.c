/* SPDX-License-Identifier: MIT */
/*
 * What is told of a space: mappings and their pages, sizes and counts.
 */
#include "tests/unit/mm/space_layout.h"

static struct sf_mapping mapping_at(struct sf_space *space, unsigned page)
{
	struct sf_mapping mapping;

	assert_int_equal(sf_next_mapping(space, AT(page), &mapping), 0);
	assert_true(mapping.start <= AT(page));
	return mapping;
}

static void mappings_are_told_in_order(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	struct sf_mapping mapping;

	(void)state;
	assert_int_equal(sf_next_mapping(space, 0, &mapping), -ENOENT);
	map_private(space, 0, 4);
	assert_int_equal(map_at(space, 6, 4, SF_PROT_READ | SF_PROT_EXEC, SF_MAP_SHARED), 0);
	assert_int_equal(sf_lock(space, AT(8), PAGE), 0);
	mapping = mapping_at(space, 3);
	assert_int_equal(mapping.start, AT(0));
	assert_int_equal(mapping.end, AT(4));
	assert_int_equal(mapping.protection, READ_WRITE);
	assert_false(mapping.shared);
	assert_false(mapping.locked);
	assert_int_equal(mapping.offset, 0);
	mapping = mapping_at(space, 8);
	assert_int_equal(mapping.protection, SF_PROT_READ | SF_PROT_EXEC);
	assert_true(mapping.shared);
	assert_true(mapping.locked);
	assert_int_equal(mapping.offset, 2 * PAGE);
	assert_int_equal(sf_next_mapping(space, AT(4), &mapping), 0);
	assert_int_equal(mapping.start, AT(6));
	assert_int_equal(sf_next_mapping(space, AT(10), &mapping), -ENOENT);
	ground_close(&ground);
}

static void pages_are_told_by_kind(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space, *child;
	struct sf_mapping mapping;

	(void)state;
	/* Four pages of its own, two zero pages, two never touched. */
	map_private(space, 0, 8);
	for (unsigned page = 0; page < 4; page++)
		write_to(space, page);
	assert_int_equal(touch(space, AT(4), false), 0);
	assert_int_equal(touch(space, AT(5), false), 0);
	assert_int_equal(sf_advise(space, AT(3), PAGE, SF_ADVICE_FREE), 0);
	mapping = mapping_at(space, 0);
	assert_int_equal(mapping.resident, 4 * PAGE);
	assert_int_equal(mapping.anonymous, 4 * PAGE);
	assert_int_equal(mapping.private_dirty, 3 * PAGE);
	assert_int_equal(mapping.private_clean, PAGE);
	assert_int_equal(mapping.lazy_free, PAGE);
	assert_int_equal(mapping.shared_dirty + mapping.shared_clean, 0);
	/* Written to, it is wanted again. */
	write_to(space, 3);
	assert_int_equal(mapping_at(space, 0).lazy_free, 0);

	assert_int_equal(sf_space_fork(space, &child), 0);
	write_to(child, 0);
	mapping = mapping_at(child, 0);
	assert_int_equal(mapping.resident, 4 * PAGE);
	assert_int_equal(mapping.private_dirty, PAGE);
	assert_int_equal(mapping.shared_dirty, 3 * PAGE);
	assert_int_equal(mapping_at(space, 0).private_dirty, PAGE);
	sf_space_destroy(child);
	assert_int_equal(mapping_at(space, 0).private_dirty, 4 * PAGE);
	ground_close(&ground);
}

static void a_space_is_counted(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	struct sf_space_statistics statistics;

	(void)state;
	map_private(space, 0, 8);
	for (unsigned page = 0; page < 6; page++)
		write_to(space, page);
	assert_int_equal(touch(space, AT(7), false), 0);
	assert_int_equal(touch(space, AT(7), false), 0);
	assert_int_equal(sf_unmap(space, AT(2), 4 * PAGE), 0);
	sf_space_statistics(space, &statistics);
	assert_int_equal(statistics.size, 4 * PAGE);
	assert_int_equal(statistics.peak_size, 8 * PAGE);
	assert_int_equal(statistics.resident, 2 * PAGE);
	assert_int_equal(statistics.peak_resident, 6 * PAGE);
	assert_int_equal(statistics.locked, 0);
	assert_int_equal(statistics.map_count, 2);
	assert_int_equal(statistics.minor_faults, 7);
	assert_int_equal(statistics.page_tables, 4 * PAGE);
	ground_close(&ground);
}

static void a_system_is_counted(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space, *child;
	struct sf_system_statistics before, after;
	uint64_t in_use;

	(void)state;
	sf_system_statistics(ground.system, &before);
	map_private(space, 0, 4);
	for (unsigned page = 0; page < 3; page++)
		write_to(space, page);
	assert_int_equal(touch(space, AT(3), false), 0);
	sf_system_statistics(ground.system, &after);
	assert_int_equal(after.faults - before.faults, 4);
	assert_int_equal(after.zero_page_maps, 1);
	assert_int_equal(after.anonymous_frames, 3);
	assert_int_equal(after.table_frames, 4);
	in_use = after.frames_allocated - after.frames_freed;
	assert_int_equal(in_use, 3 + 4);
	assert_int_equal(after.free_frames, before.free_frames - 3 - 3);

	assert_int_equal(sf_space_fork(space, &child), 0);
	write_to(child, 0);
	write_to(space, 0);
	sf_system_statistics(ground.system, &after);
	assert_int_equal(after.copies_on_write, 1);
	assert_int_equal(after.reuses, 1);
	sf_space_destroy(child);
	assert_int_equal(sf_unmap(space, AT(0), 4 * PAGE), 0);
	sf_system_statistics(ground.system, &after);
	assert_int_equal(after.faults - before.faults, 6);
	assert_int_equal(after.anonymous_frames, 0);
	assert_true(after.shootdowns > 0);
	assert_true(after.peak_retired_bytes >= PAGE);
	port_rcu_barrier();
	sf_system_statistics(ground.system, &after);
	assert_int_equal(after.retired_bytes, 0);
	assert_int_equal(after.table_frames, 3);
	ground_close(&ground);
}

/* The whole range is asked for, up to the first page that nothing maps. */
static void residence_is_told_up_to_a_hole(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	unsigned char resident[8];

	(void)state;
	map_private(space, 0, 2);
	assert_int_equal(map_at(space, 2, 2, READ_WRITE, SF_MAP_SHARED), 0);
	write_to(space, 1);
	write_to(space, 3);
	memset(resident, 7, sizeof(resident));
	assert_int_equal(sf_mincore(space, AT(0), 6 * PAGE, resident), -ENOMEM);
	assert_memory_equal(resident, "\0\1\0\1\7\7", 6);
	assert_int_equal(sf_mincore(space, AT(0) + 1, PAGE, resident), -EINVAL);
	assert_int_equal(sf_mincore(space, AT(0), UINT64_MAX, resident), -ENOMEM);
	assert_int_equal(sf_mincore(space, AT(9), 0, resident), 0);
	/* A page stays its object's when this mapping of it goes. */
	assert_int_equal(sf_advise(space, AT(0), 4 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(sf_mincore(space, AT(0), 4 * PAGE - 1, resident), 0);
	assert_memory_equal(resident, "\0\0\0\1", 4);
	ground_close(&ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(mappings_are_told_in_order),
	    mm_test(pages_are_told_by_kind),
	    mm_test(a_space_is_counted),
	    mm_test(a_system_is_counted),
	    mm_test(residence_is_told_up_to_a_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
