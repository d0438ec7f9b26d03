/* SPDX-License-Identifier: MIT */
/*
 * What the tests of objects share: systems of each choice that an object's path depends on, and short words.
 */
#ifndef TESTS_UNIT_MM_OBJECT_FIXTURE_H
#define TESTS_UNIT_MM_OBJECT_FIXTURE_H

#include "tests/unit/mm/fault_fixture.h"

#define SHARED  SF_MAP_SHARED
#define PRIVATE SF_MAP_PRIVATE

static const char *const object_policies[] = {
    "default",
    "default page_index=tree_lock",
    "default dirty_tracking=pte",
    "default dirty_tracking=pte dirty_transfer=off page_table_lock=split",
    "default shmem_account=inode_lock",
    "default shmem_account=inode_lock page_index=tree_lock",
    "default shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock",
    "default shmem_account=ramfs",
    "base_2010",
    "base_2010 shmem_alloc=before shmem_account=ramfs",
};

static inline bool policy_has_limits(const char *policy)
{
	return !strstr(policy, "ramfs");
}

static inline struct sf_system *object_system(const char *text, uint64_t frames)
{
	struct policy policy;
	struct message why = {""};

	if (policy_parse(&policy, text, &why))
		fail_msg("%s", why.text);
	return fault_system(&policy, frames);
}

static inline void object_system_end(struct sf_system *system)
{
	struct sf_system_statistics statistics;

	assert_good(system);
	sf_system_statistics(system, &statistics);
	assert_int_equal(statistics.shared_frames, 0);
	assert_int_equal(statistics.file_frames, 0);
	assert_int_equal(statistics.index_frames, 0);
	fault_system_end(system);
}

/* Runs body(system, policy) for every policy. */
static inline void for_each_object_policy(uint64_t frames,
					  void (*body)(struct sf_system *system, const char *policy))
{
	for (size_t i = 0; i < sizeof(object_policies) / sizeof(object_policies[0]); i++) {
		struct sf_system *system = object_system(object_policies[i], frames);

		body(system, object_policies[i]);
		object_system_end(system);
	}
}

static inline struct sf_object *object_open(struct sf_system *system, uint64_t bytes, uint64_t limit)
{
	struct sf_object *object = NULL;

	assert_int_equal(sf_object_create(system, bytes, limit, &object), 0);
	return object;
}

static inline void map_object_at(struct sf_space *space, uint64_t address, uint64_t pages, int protection,
				 int flags, struct sf_object *object, uint64_t offset)
{
	uint64_t mapped;

	assert_int_equal(sf_map_object(space, address, pages * PAGE, protection, flags | SF_MAP_FIXED, object,
				       offset, &mapped),
			 0);
	assert_int_equal(mapped, address);
}

static inline unsigned char object_byte(struct sf_object *object, uint64_t offset)
{
	unsigned char value = 0xee;

	assert_int_equal(sf_object_read(object, offset, &value, 1), 1);
	return value;
}

static inline void object_put_byte(struct sf_object *object, uint64_t offset, unsigned char value)
{
	assert_int_equal(sf_object_write(object, offset, &value, 1), 1);
}

static inline uint64_t object_cached_bytes(struct sf_object *object)
{
	struct sf_object_statistics statistics;

	sf_object_statistics(object, &statistics);
	return statistics.cached;
}

static inline uint64_t object_size(struct sf_object *object)
{
	struct sf_object_statistics statistics;

	sf_object_statistics(object, &statistics);
	return statistics.bytes;
}

#define assert_sigbus(space, address, access) assert_fault(space, address, access, SIGBUS, BUS_ADRERR)

#endif
