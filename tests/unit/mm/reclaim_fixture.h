/* SPDX-License-Identifier: MIT */
/*
 * A system with swap and a group in which reclaim has something to do, for tests of it.
 */
#ifndef TESTS_UNIT_MM_RECLAIM_FIXTURE_H
#define TESTS_UNIT_MM_RECLAIM_FIXTURE_H

#include <string.h>

#include "tests/common/memory_backing.h"
#include "tests/unit/mm/fixture.h"

#define SWAP_BYTES ((uint64_t)64 << 20)
#define UNLIMITED  UINT64_MAX

/* A system with swap, a group with a limit, a space in it, and memory mapped there. */
struct stage {
	struct sf_system *system;
	struct sf_group *group;
	struct sf_space *space;
	uint64_t at;
};

static inline void map_memory(struct stage *stage, uint64_t pages)
{
	assert_int_equal(sf_map(stage->space, 0, pages * PAGE, SF_PROT_READ | SF_PROT_WRITE,
				SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &stage->at),
			 0);
}

static inline struct sf_space *second_space(const struct stage *stage)
{
	struct sf_space *space;

	assert_int_equal(sf_space_create_in(stage->group, &space), 0);
	return space;
}

static inline void open_without_swap(struct stage *stage, const char *policy, uint64_t own, uint64_t limit,
				     uint64_t pages)
{
	struct system_config config = {.own_frames = own};
	struct message why = {""};

	assert_int_equal(policy_parse(&config.policy, policy, &why), 0);
	assert_int_equal(system_create(&config, &stage->system, &why), 0);
	assert_int_equal(sf_group_create(sf_group_root(stage->system), &stage->group), 0);
	assert_int_equal(
	    sf_group_set_limit(stage->group, limit == UNLIMITED ? SF_GROUP_UNLIMITED : limit * PAGE), 0);
	stage->space = second_space(stage);
	map_memory(stage, pages);
}

static inline void open_stage(struct stage *stage, const char *policy, uint64_t own, uint64_t limit,
			      uint64_t pages)
{
	open_without_swap(stage, policy, own, limit, pages);
	assert_int_equal(sf_swap_add_memory(stage->system, SWAP_BYTES, 0), 0);
}

static inline void assert_good(struct stage *stage)
{
	struct message why = {""};

	if (system_check(stage->system, &why))
		fail_msg("%s", why.text);
}

static inline void close_stage(struct stage *stage)
{
	assert_good(stage);
	sf_space_destroy(stage->space);
	assert_int_equal(sf_group_destroy(stage->group), 0);
	assert_good(stage);
	system_destroy(stage->system);
}

static inline void write_page(struct stage *stage, uint64_t page, uint64_t value)
{
	assert_int_equal(sf_write(stage->space, stage->at + page * PAGE + page % 500 * 8, &value, 8, NULL),
			 8);
}

static inline uint64_t read_page(struct stage *stage, uint64_t page)
{
	uint64_t value = 0;

	assert_int_equal(sf_read(stage->space, stage->at + page * PAGE + page % 500 * 8, &value, 8, NULL), 8);
	return value;
}

static inline struct sf_reclaim_statistics statistics(struct stage *stage)
{
	struct sf_reclaim_statistics result;

	sf_reclaim_statistics(stage->system, &result);
	return result;
}

static const char *const reclaim_policies[] = {
    "default",
    "base_2004",
    "base_2009",
    "base_2010",
    "base_2014",
    "default charge_stock=none lru_add=zone_lock rmap_lock=wait dirty_transfer=off dirty_tracking=pte",
};

static inline void fills(struct stage *stage, uint64_t pages)
{
	for (uint64_t page = 0; page < pages; page++)
		write_page(stage, page, page * 7 + 1);
}

static inline void holds(struct stage *stage, uint64_t pages)
{
	for (uint64_t page = 0; page < pages; page++)
		assert_int_equal(read_page(stage, page), page * 7 + 1);
}

static inline uint64_t group_usage(struct sf_group *group)
{
	struct sf_group_statistics result;

	sf_group_statistics(group, &result);
	return result.usage / PAGE;
}

static inline uint64_t resident(const struct stage *stage)
{
	struct sf_space_statistics result;

	sf_space_statistics(stage->space, &result);
	return result.resident / PAGE;
}

/* A file or shared memory of so many pages, mapped shared in the stage's space at *at. */
static inline struct sf_object *map_object(struct stage *stage, struct memory_backing *file, uint64_t pages)
{
	struct sf_object *object;

	if (file) {
		memory_backing_open(file, pages * PAGE, pages * PAGE);
		assert_int_equal(sf_file_open(stage->system, &file->backing, &object), 0);
	} else {
		assert_int_equal(sf_object_create(stage->system, pages * PAGE, 0, &object), 0);
	}
	assert_int_equal(sf_map_object(stage->space, 0, pages * PAGE, SF_PROT_READ | SF_PROT_WRITE,
				       SF_MAP_SHARED, object, 0, &stage->at),
			 0);
	return object;
}

#endif
