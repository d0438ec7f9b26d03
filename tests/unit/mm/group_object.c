/* SPDX-License-Identifier: MIT */
/*
 * Who is charged for the pages of objects: the group of the space whose fault made them, until the last
 * reference goes; and what is left of a fault that cannot be charged: nothing.
 */
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/object_fixture.h"

#include "mm/system/internal.h"

#define FRAMES 512u

static struct ground {
	struct sf_system *system;
	struct sf_group *top, *leaf, *other; /* top > leaf, top > other */
	struct sf_space *space, *second;     /* in leaf, in other */
	struct sf_object *object;
} ground;

/* In pages, without what CPUs have charged ahead. */
static uint64_t used(struct sf_group *group)
{
	struct sf_group_statistics statistics;

	port_rcu_barrier();
	assert_int_equal(sf_group_set_limit(ground.top, SF_GROUP_UNLIMITED), 0);
	sf_group_statistics(group, &statistics);
	return statistics.usage / PAGE;
}

static void limit_to_usage(struct sf_group *group, uint64_t more)
{
	uint64_t pages = used(group) + more;

	assert_int_equal(sf_group_set_limit(group, pages * PAGE), 0);
}

static struct sf_space *space_in(struct sf_group *group)
{
	struct sf_space *space = NULL;

	assert_int_equal(sf_space_create_in(group, &space), 0);
	return space;
}

static void set_up(struct sf_system *system)
{
	ground = (struct ground){.system = system};
	assert_int_equal(sf_group_create(sf_group_root(system), &ground.top), 0);
	assert_int_equal(sf_group_create(ground.top, &ground.leaf), 0);
	assert_int_equal(sf_group_create(ground.top, &ground.other), 0);
	ground.space = space_in(ground.leaf);
	ground.second = space_in(ground.other);
	ground.object = object_open(system, 8 * PAGE, 0);
	map_object_at(ground.space, BASE, 8, RW, SHARED, ground.object, 0);
	map_object_at(ground.second, BASE, 8, RW, SHARED, ground.object, 0);
	/* Page 0, and all tables, of the first. */
	put_byte(ground.space, BASE, 1);
	assert_int_equal(get_byte(ground.second, BASE), 1);
	assert_good(system);
}

static void tear_down(void)
{
	assert_good(ground.system);
	sf_object_close(ground.object);
	sf_space_destroy(ground.space);
	sf_space_destroy(ground.second);
	if (ground.leaf)
		assert_int_equal(sf_group_destroy(ground.leaf), 0);
	assert_int_equal(used(ground.top), 0);
	assert_int_equal(sf_group_destroy(ground.other), 0);
	assert_int_equal(sf_group_destroy(ground.top), 0);
}

static void first_touch_is_charged(struct sf_system *system, const char *policy)
{
	uint64_t leaf, other;

	(void)policy;
	set_up(system);
	leaf = used(ground.leaf);
	other = used(ground.other);
	assert_int_equal(used(ground.top), leaf + other);
	put_byte(ground.second, BASE + PAGE, 2);
	put_byte(ground.space, BASE + PAGE, 3);
	put_byte(ground.space, BASE + 2 * PAGE, 4);
	assert_int_equal(used(ground.leaf), leaf + 1);
	assert_int_equal(used(ground.other), other + 1);
	/* By offset: the root's, whatever the spaces are in. */
	object_put_byte(ground.object, 3 * PAGE, 5);
	assert_int_equal(get_byte(ground.space, BASE + 3 * PAGE), 5);
	assert_int_equal(used(ground.top), leaf + other + 2);
	/* The mapping goes, the page stays. */
	assert_int_equal(sf_unmap(ground.second, BASE, 8 * PAGE), 0);
	assert_true(used(ground.other) <= other + 1);
	assert_int_equal(get_byte(ground.space, BASE + PAGE), 3);
	/* And when it goes, the charge goes. */
	assert_int_equal(sf_object_punch(ground.object, 0, 3 * PAGE), 0);
	assert_int_equal(used(ground.leaf), leaf - 1);
	assert_int_equal(sf_object_resize(ground.object, 0), 0);
	assert_int_equal(used(ground.leaf), leaf - 1);
	tear_down();
}

static void pages_outlive_their_group(struct sf_system *system, const char *policy)
{
	uint64_t leaf, other;

	(void)policy;
	set_up(system);
	leaf = used(ground.leaf);
	other = used(ground.other);
	for (unsigned page = 1; page < 8; page++)
		put_byte(ground.space, BASE + page * PAGE, (unsigned char)page);
	assert_int_equal(used(ground.leaf), leaf + 7);
	sf_space_set_group(ground.space, ground.other);
	assert_int_equal(sf_group_destroy(ground.leaf), 0);
	ground.leaf = NULL;
	assert_int_equal(used(ground.top), leaf + other + 7);
	assert_int_equal(used(ground.other), other);
	assert_good(system);
	assert_int_equal(sf_object_resize(ground.object, 5 * PAGE), 0);
	assert_int_equal(used(ground.top), leaf + other + 4);
	assert_int_equal(sf_object_punch(ground.object, 0, 4 * PAGE), 0);
	assert_int_equal(used(ground.top), leaf + other);
	put_byte(ground.space, BASE, 9);
	assert_int_equal(used(ground.other), other + 1);
	tear_down();
}

static void assert_full(struct sf_space *space, uint64_t address, struct sf_group *group)
{
	struct sf_signal signal;

	assert_int_equal(sf_touch(space, address, SF_WRITE, &signal), -ENOMEM);
	assert_int_equal(signal.signal, 0);
	assert_ptr_equal(signal.group, group);
}

static void a_full_group_makes_nothing(struct sf_system *system, const char *policy)
{
	uint64_t cached;

	(void)policy;
	set_up(system);
	cached = object_cached_bytes(ground.object);
	for (unsigned above = 0; above < 2; above++) {
		struct sf_group *group = above ? ground.top : ground.leaf;

		limit_to_usage(group, 0);
		for (unsigned round = 0; round < 3; round++) {
			assert_full(ground.space, BASE + PAGE, group);
			assert_good(system);
			assert_int_equal(object_cached_bytes(ground.object), cached);
		}
		/* What is there needs no room; who is in another group may make more. */
		put_byte(ground.space, BASE, 7);
		if (!above) {
			put_byte(ground.second, BASE + 2 * PAGE, 8);
			assert_int_equal(get_byte(ground.space, BASE + 2 * PAGE), 8);
			cached += PAGE;
		}
		assert_int_equal(sf_group_set_limit(group, SF_GROUP_UNLIMITED), 0);
	}
	limit_to_usage(ground.leaf, 1);
	put_byte(ground.space, BASE + PAGE, 9);
	assert_full(ground.space, BASE + 3 * PAGE, ground.leaf);
	/* A page of the group goes: there is room. */
	assert_int_equal(sf_object_punch(ground.object, 0, PAGE), 0);
	port_rcu_barrier();
	put_byte(ground.space, BASE + 3 * PAGE, 10);
	assert_int_equal(sf_group_set_limit(ground.leaf, SF_GROUP_UNLIMITED), 0);
	tear_down();
}

/* A frame for the page, and none for the index: the group is not what is full. */
static void no_frame_is_no_full_group(struct sf_system *system, const char *policy)
{
	struct sf_signal signal;
	uint64_t mapped, page = 0;

	(void)policy;
	set_up(system);
	assert_int_equal(sf_map(ground.space, BASE << 1, FRAMES * PAGE, RW,
				PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
	while (!sf_touch(ground.space, (BASE << 1) + page * PAGE, SF_WRITE, &signal))
		page++;
	assert_null(signal.group);
	assert_int_equal(sf_touch(ground.space, BASE + PAGE, SF_WRITE, &signal), -ENOMEM);
	assert_null(signal.group);
	assert_good(system);
	assert_int_equal(sf_unmap(ground.space, BASE << 1, FRAMES * PAGE), 0);
	put_byte(ground.space, BASE + PAGE, 1);
	tear_down();
}

static void copies_are_the_writers(struct sf_system *system, const char *policy)
{
	uint64_t leaf, other;

	(void)policy;
	set_up(system);
	map_object_at(ground.second, BASE, 8, RW, PRIVATE, ground.object, 0);
	assert_int_equal(get_byte(ground.second, BASE), 1);
	leaf = used(ground.leaf);
	other = used(ground.other);
	put_byte(ground.second, BASE, 2);
	assert_int_equal(used(ground.leaf), leaf);
	assert_int_equal(used(ground.other), other + 1);
	/* In one fault: the object's page, and its copy. */
	put_byte(ground.second, BASE + PAGE, 3);
	assert_int_equal(used(ground.other), other + 3);
	limit_to_usage(ground.other, 1);
	assert_full(ground.second, BASE + 2 * PAGE, ground.other);
	assert_good(system);
	assert_int_equal(sf_group_set_limit(ground.other, SF_GROUP_UNLIMITED), 0);
	tear_down();
}

static void files_are_charged(struct sf_system *system, const char *policy)
{
	struct memory_backing file;
	struct sf_object *object;
	uint64_t leaf;

	(void)policy;
	set_up(system);
	memory_backing_open(&file, 4 * PAGE, 8 * PAGE);
	assert_int_equal(sf_file_open(system, &file.backing, &object), 0);
	map_object_at(ground.space, BASE + 8 * PAGE, 4, RW, SHARED, object, 0);
	leaf = used(ground.leaf);
	get_byte(ground.space, BASE + 8 * PAGE);
	assert_int_equal(used(ground.leaf), leaf + 1);
	/* What is read by offset is the root's, and is found by faults. */
	object_byte(object, PAGE);
	get_byte(ground.space, BASE + 9 * PAGE);
	assert_int_equal(used(ground.leaf), leaf + 1);
	/* A page that is locked stays; another one makes room for the next. */
	assert_int_equal(sf_lock(ground.space, BASE + 8 * PAGE, PAGE), 0);
	limit_to_usage(ground.leaf, 0);
	assert_full(ground.space, BASE + 10 * PAGE, ground.leaf);
	assert_int_equal(object_cached_bytes(object), 2 * PAGE);
	assert_good(system);
	assert_int_equal(sf_unlock(ground.space, BASE + 8 * PAGE, PAGE), 0);
	get_byte(ground.space, BASE + 10 * PAGE);
	assert_int_equal(object_cached_bytes(object), 2 * PAGE);
	assert_good(system);
	assert_int_equal(sf_group_set_limit(ground.leaf, SF_GROUP_UNLIMITED), 0);
	assert_int_equal(sf_object_punch(object, 2 * PAGE, PAGE), 0);
	get_byte(ground.space, BASE + 8 * PAGE);
	/* A page that cannot be read stays, for who reads it again, and stays charged. */
	file.error = -EIO;
	atomic_store(&file.good, 0);
	assert_sigbus(ground.space, BASE + 10 * PAGE, SF_READ);
	atomic_store(&file.good, MEMORY_BACKING_NEVER);
	assert_int_equal(used(ground.leaf), leaf + 2);
	put_byte(ground.space, BASE + 10 * PAGE, 1);
	assert_int_equal(used(ground.leaf), leaf + 2);
	assert_int_equal(sf_unmap(ground.space, BASE + 8 * PAGE, 4 * PAGE), 0);
	assert_int_equal(used(ground.leaf), leaf + 2);
	sf_object_close(object);
	assert_int_equal(used(ground.leaf), leaf);
	memory_backing_close(&file);
	tear_down();
}

static const char *const group_policies[] = {
    "",
    " charge_stock=none",
    " group_counter=res_counter charge_stock=32 root_group=charged release_batch=pagevec lru_add=zone_lock",
    " charge_stock=none root_group=charged release_batch=gather_unchunked lru_add=zone_lock",
};

static void for_each_group_policy(void (*body)(struct sf_system *system, const char *policy))
{
	for (size_t i = 0; i < sizeof(object_policies) / sizeof(object_policies[0]); i++)
		for (size_t j = 0; j < sizeof(group_policies) / sizeof(group_policies[0]); j++) {
			char text[POLICY_TEXT_BYTES];
			struct sf_system *system;

			snprintf(text, sizeof(text), "%s%s", object_policies[i], group_policies[j]);
			system = object_system(text, FRAMES);
			body(system, text);
			object_system_end(system);
		}
}

#define EACH(body)                            \
	static void test_##body(void **state) \
	{                                     \
		(void)state;                  \
		for_each_group_policy(body);  \
	}

EACH(first_touch_is_charged)
EACH(pages_outlive_their_group)
EACH(a_full_group_makes_nothing)
EACH(no_frame_is_no_full_group)
EACH(copies_are_the_writers)
EACH(files_are_charged)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(test_first_touch_is_charged),     fault_test(test_pages_outlive_their_group),
	    fault_test(test_a_full_group_makes_nothing), fault_test(test_no_frame_is_no_full_group),
	    fault_test(test_copies_are_the_writers),     fault_test(test_files_are_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
