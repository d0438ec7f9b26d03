/* SPDX-License-Identifier: MIT */
/*
 * Shared memory objects: what mappings and offsets see, where they end, what is taken away and what stays.
 * S is a shared mapping, P a private one; '.' is not mapped.
 */
#include "tests/unit/mm/object_fixture.h"

#define HERE  BASE
#define THERE (BASE + 64 * PAGE)

/* S S S S    two spaces and a handle */
static void all_see_the_same(struct sf_system *system, const char *policy)
{
	struct sf_space *one = fault_space(system), *other = fault_space(system), *child;
	struct sf_object *object = object_open(system, 4 * PAGE, 0);

	(void)policy;
	map_object_at(one, HERE, 4, RW, SHARED, object, 0);
	map_object_at(other, THERE, 3, RW, SHARED, object, PAGE);
	map_object_at(other, HERE, 4, SF_PROT_READ, PRIVATE, object, 0);
	assert_int_equal(get_byte(one, HERE + PAGE), 0);
	put_byte(one, HERE + PAGE + 5, 7);
	assert_int_equal(get_byte(other, THERE + 5), 7);
	assert_int_equal(get_byte(other, HERE + PAGE + 5), 7);
	assert_int_equal(object_byte(object, PAGE + 5), 7);
	object_put_byte(object, 3 * PAGE, 9);
	assert_int_equal(get_byte(one, HERE + 3 * PAGE), 9);
	assert_int_equal(get_byte(other, HERE + 3 * PAGE), 9);
	assert_int_equal(object_cached_bytes(object), 2 * PAGE);
	assert_int_equal(sf_space_fork(one, &child), 0);
	put_byte(child, HERE, 3);
	assert_int_equal(get_byte(one, HERE), 3);
	sf_object_close(object);
	assert_good(system);
	sf_space_destroy(one);
	assert_int_equal(get_byte(other, HERE), 3);
	put_byte(child, HERE + PAGE, 8);
	sf_space_destroy(child);
	assert_int_equal(get_byte(other, THERE), 8);
	assert_good(system);
	sf_space_destroy(other);
}

/* P P P P over an object that changes; a fork of it. */
static void private_pages_are_copied(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system), *child;
	struct sf_object *object = object_open(system, 4 * PAGE, 0);
	struct sf_mapping mapping;

	(void)policy;
	object_put_byte(object, 0, 1);
	object_put_byte(object, PAGE, 2);
	map_object_at(space, HERE, 4, RW, PRIVATE, object, 0);
	assert_int_equal(get_byte(space, HERE), 1);
	/* By the first touch, after a read, and of a page that the object does not have. */
	put_byte(space, HERE + PAGE + 1, 22);
	put_byte(space, HERE + 1, 11);
	put_byte(space, HERE + 2 * PAGE, 33);
	assert_int_equal(object_byte(object, 1), 0);
	assert_int_equal(object_byte(object, PAGE + 1), 0);
	assert_int_equal(object_byte(object, 2 * PAGE), 0);
	object_put_byte(object, 0, 100);
	object_put_byte(object, 3 * PAGE, 44);
	assert_int_equal(get_byte(space, HERE), 1);
	assert_int_equal(get_byte(space, HERE + 3 * PAGE), 44);
	assert_int_equal(sf_next_mapping(space, HERE, &mapping), 0);
	assert_int_equal(mapping.resident, 4 * PAGE);
	assert_int_equal(mapping.anonymous, 3 * PAGE);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_good(system);
	put_byte(child, HERE + 1, 111);
	assert_int_equal(get_byte(space, HERE + 1), 11);
	/* What is given back is the object's again. */
	assert_int_equal(sf_advise(space, HERE, 4 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(get_byte(space, HERE), 100);
	assert_int_equal(get_byte(space, HERE + 1), 0);
	assert_int_equal(get_byte(child, HERE + 1), 111);
	assert_int_equal(get_byte(child, HERE + PAGE + 1), 22);
	/* The child is the last one that has its page: it is written in place. */
	put_byte(child, HERE + PAGE, 23);
	assert_good(system);
	sf_object_close(object);
	sf_space_destroy(space);
	sf_space_destroy(child);
}

/* S S S | S    the size ends in the third page; the fourth is beyond. */
static void it_ends_at_its_size(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = object_open(system, 2 * PAGE + 10, 0), *others;
	struct sf_system *other = object_system(policy, 512);
	uint64_t mapped;

	map_object_at(space, HERE, 4, RW, SHARED, object, 0);
	map_object_at(space, THERE, 4, RW, PRIVATE, object, 0);
	put_byte(space, HERE + 2 * PAGE + 100, 5);
	assert_sigbus(space, HERE + 3 * PAGE, SF_READ);
	assert_sigbus(space, HERE + 3 * PAGE, SF_WRITE);
	assert_sigbus(space, THERE + 3 * PAGE, SF_WRITE);
	assert_int_equal(object_size(object), 2 * PAGE + 10);
	assert_int_equal(sf_object_resize(object, 4 * PAGE), 0);
	put_byte(space, HERE + 3 * PAGE, 6);
	put_byte(space, THERE + 3 * PAGE + 1, 7);
	put_byte(space, THERE, 8);
	/* As tmpfs: what was written behind the end is there when it moves. */
	assert_int_equal(object_byte(object, 2 * PAGE + 100), 5);

	assert_int_equal(sf_object_resize(object, PAGE + 4), 0);
	assert_int_equal(system_pte(space, HERE + 3 * PAGE), 0);
	assert_int_equal(system_pte(space, THERE + 3 * PAGE), 0);
	assert_sigbus(space, HERE + 3 * PAGE, SF_READ);
	assert_sigbus(space, THERE + 3 * PAGE, SF_READ);
	assert_int_equal(get_byte(space, THERE), 8);
	assert_good(system);
	assert_int_equal(sf_object_resize(object, 8 * PAGE), 0);
	assert_int_equal(get_byte(space, HERE + 3 * PAGE), 0);
	assert_int_equal(get_byte(space, THERE + 3 * PAGE + 1), 0);

	/* Nothing is left at the end. */
	assert_int_equal(sf_object_resize(object, 0), 0);
	assert_int_equal(object_cached_bytes(object), 0);
	assert_sigbus(space, HERE, SF_READ);
	assert_sigbus(space, THERE, SF_READ);
	assert_int_equal(sf_object_resize(object, SF_OBJECT_BYTES_MAX), 0);
	object_put_byte(object, SF_OBJECT_BYTES_MAX - 1, 9);
	assert_int_equal(object_byte(object, SF_OBJECT_BYTES_MAX - 1), 9);
	assert_int_equal(sf_object_resize(object, SF_OBJECT_BYTES_MAX + 1), -EINVAL);
	assert_int_equal(sf_map_object(space, 0, PAGE, RW, SHARED, object, 7, &mapped), -EINVAL);
	assert_int_equal(sf_map_object(space, 0, PAGE, RW, SHARED | SF_MAP_ANONYMOUS, object, 0, &mapped),
			 -EINVAL);
	assert_int_equal(
	    sf_map_object(space, 0, 2 * PAGE, RW, SHARED, object, SF_OBJECT_BYTES_MAX / PAGE * PAGE, &mapped),
	    -EOVERFLOW);
	assert_int_equal(sf_map_object(space, 0, PAGE, RW, 3, object, 0, &mapped), -EINVAL);
	assert_int_equal(sf_map_object(space, 0, 0, RW, SHARED, object, 0, &mapped), -EINVAL);
	others = object_open(other, PAGE, 0);
	assert_int_equal(sf_map_object(space, 0, PAGE, RW, SHARED, others, 0, &mapped), -EINVAL);
	sf_object_close(others);
	object_system_end(other);
	sf_object_close(object);
	sf_object_close(NULL);
	sf_space_destroy(space);
}

static void the_rest_of_the_last_page_is_zeroed(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = object_open(system, 3 * PAGE, 0);

	(void)policy;
	map_object_at(space, HERE, 3, RW, SHARED, object, 0);
	map_object_at(space, THERE, 3, RW, PRIVATE, object, 0);
	put_byte(space, HERE + PAGE + 9, 1);
	put_byte(space, HERE + PAGE + 10, 2);
	put_byte(space, HERE + 2 * PAGE - 1, 3);
	put_byte(space, THERE + PAGE + 10, 4);
	assert_int_equal(sf_object_resize(object, PAGE + 10), 0);
	assert_int_equal(get_byte(space, HERE + PAGE + 9), 1);
	assert_int_equal(get_byte(space, HERE + PAGE + 10), 0);
	assert_int_equal(get_byte(space, HERE + 2 * PAGE - 1), 0);
	/* A private copy is nobody's to zero. */
	assert_int_equal(get_byte(space, THERE + PAGE + 10), 4);
	assert_int_equal(sf_object_resize(object, 2 * PAGE), 0);
	assert_int_equal(object_byte(object, PAGE + 9), 1);
	assert_int_equal(object_byte(object, 2 * PAGE - 1), 0);
	sf_object_close(object);
	sf_space_destroy(space);
}

/* S S S S    a hole from the middle of the first page to the middle of the last */
static void holes_are_punched(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = object_open(system, 4 * PAGE, 0);

	(void)policy;
	map_object_at(space, HERE, 4, RW, SHARED, object, 0);
	map_object_at(space, THERE, 4, RW, PRIVATE, object, 0);
	for (unsigned page = 0; page < 4; page++) {
		put_byte(space, HERE + page * PAGE + 1, (unsigned char)(page + 1));
		put_byte(space, HERE + page * PAGE + PAGE - 1, (unsigned char)(page + 11));
	}
	put_byte(space, THERE + PAGE, 99);
	assert_int_equal(get_byte(space, THERE + 2 * PAGE + 1), 3);
	assert_int_equal(sf_object_punch(object, PAGE / 2, 3 * PAGE), 0);
	assert_int_equal(object_cached_bytes(object), 2 * PAGE);
	assert_int_equal(system_pte(space, HERE + PAGE), 0);
	assert_int_equal(system_pte(space, THERE + 2 * PAGE), 0);
	assert_int_equal(get_byte(space, HERE + 1), 1);
	assert_int_equal(get_byte(space, HERE + PAGE - 1), 0);
	assert_int_equal(get_byte(space, HERE + PAGE + 1), 0);
	assert_int_equal(get_byte(space, HERE + 3 * PAGE + 1), 0);
	assert_int_equal(get_byte(space, HERE + 4 * PAGE - 1), 14);
	assert_int_equal(get_byte(space, THERE + PAGE), 99);
	assert_int_equal(get_byte(space, THERE + 2 * PAGE + 1), 0);
	assert_int_equal(object_size(object), 4 * PAGE);
	/* Inside of one page, beyond the end, and what is refused. */
	assert_int_equal(sf_object_punch(object, 1, 1), 0);
	assert_int_equal(get_byte(space, HERE + 1), 0);
	assert_int_equal(sf_object_punch(object, 3 * PAGE, 100 * PAGE), 0);
	assert_int_equal(get_byte(space, HERE + 4 * PAGE - 1), 0);
	assert_int_equal(object_size(object), 4 * PAGE);
	assert_int_equal(sf_object_punch(object, 0, 0), -EINVAL);
	assert_int_equal(sf_object_punch(object, SF_OBJECT_BYTES_MAX + 1, 1), -EINVAL);
	assert_int_equal(sf_object_punch(object, 1, SF_OBJECT_BYTES_MAX), -EFBIG);
	assert_good(system);

	/* By its address. */
	put_byte(space, HERE, 1);
	put_byte(space, HERE + PAGE, 2);
	assert_int_equal(sf_advise(space, HERE, PAGE, SF_ADVICE_REMOVE), 0);
	assert_int_equal(get_byte(space, HERE), 0);
	assert_int_equal(get_byte(space, HERE + PAGE), 2);
	assert_int_equal(sf_advise(space, THERE, PAGE, SF_ADVICE_REMOVE), -EACCES);
	assert_int_equal(sf_advise(space, HERE + PAGE, 4 * PAGE, SF_ADVICE_REMOVE), -ENOMEM);
	assert_int_equal(get_byte(space, HERE + PAGE), 0);
	assert_int_equal(sf_lock(space, HERE, PAGE), 0);
	assert_int_equal(sf_advise(space, HERE, PAGE, SF_ADVICE_REMOVE), -EINVAL);
	map_at(space, THERE + 16 * PAGE, 1, RW, PRIVATE);
	assert_int_equal(sf_advise(space, THERE + 16 * PAGE, PAGE, SF_ADVICE_REMOVE), -EINVAL);
	sf_object_close(object);
	sf_space_destroy(space);
}

static void a_limit_is_exact(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = NULL;
	char bytes[2 * PAGE];

	if (!policy_has_limits(policy)) {
		assert_int_equal(sf_object_create(system, PAGE, PAGE, &object), -EINVAL);
		sf_space_destroy(space);
		return;
	}
	memset(bytes, 1, sizeof(bytes));
	object = object_open(system, 200 * PAGE, 100 * PAGE - 1);
	map_object_at(space, HERE, 200, RW, SHARED, object, 0);
	for (unsigned page = 0; page < 100; page++)
		assert_touch(space, HERE + 2 * page * PAGE, SF_READ);
	for (unsigned page = 0; page < 100; page++) {
		assert_sigbus(space, HERE + (2 * page + 1) * PAGE, SF_WRITE);
		assert_touch(space, HERE + 2 * page * PAGE, SF_WRITE);
	}
	/* What fails takes no frame, however often it is tried. */
	for (unsigned i = 0; i < 2000; i++)
		assert_sigbus(space, HERE + PAGE, SF_READ);
	assert_int_equal(sf_object_write(object, PAGE, bytes, 10), -ENOSPC);
	assert_int_equal(sf_object_write(object, 10, bytes, 2 * PAGE), PAGE - 10);
	/* Reading a hole takes none. */
	assert_int_equal(object_byte(object, PAGE), 0);
	assert_good(system);
	/* What is taken away can be had again, exactly. */
	assert_int_equal(sf_object_punch(object, 0, 3 * PAGE), 0);
	assert_int_equal(sf_object_resize(object, 199 * PAGE - 5), 0);
	assert_touch(space, HERE + PAGE, SF_WRITE);
	assert_touch(space, HERE + 3 * PAGE, SF_WRITE);
	assert_sigbus(space, HERE + 5 * PAGE, SF_READ);
	assert_int_equal(sf_object_resize(object, 0), 0);
	assert_good(system);
	assert_int_equal(sf_object_resize(object, 300 * PAGE), 0);
	for (unsigned page = 0; page < 100; page++)
		object_put_byte(object, page * PAGE, 1);
	assert_sigbus(space, HERE + 100 * PAGE, SF_READ);
	assert_int_equal(object_cached_bytes(object), 100 * PAGE);
	sf_object_close(object);
	sf_space_destroy(space);
}

static void offsets_are_read_and_written(struct sf_system *system, const char *policy)
{
	struct sf_object *object = object_open(system, 10, 0);
	char bytes[3 * PAGE], back[3 * PAGE];

	(void)policy;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + 1);
	assert_int_equal(sf_object_read(object, 0, back, sizeof(back)), 10);
	assert_int_equal(sf_object_read(object, 10, back, 1), 0);
	assert_int_equal(sf_object_write(object, PAGE - 3, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(object_size(object), 4 * PAGE - 3);
	memset(back, 0x55, sizeof(back));
	assert_int_equal(sf_object_read(object, PAGE - 3, back, sizeof(back)), sizeof(back));
	assert_memory_equal(back, bytes, sizeof(bytes));
	assert_int_equal(sf_object_read(object, 4 * PAGE - 5, back, sizeof(back)), 2);
	assert_int_equal(object_byte(object, PAGE - 4), 0);
	assert_int_equal(sf_object_write(object, 0, bytes, 0), 0);
	assert_int_equal(sf_object_write(object, SF_OBJECT_BYTES_MAX, bytes, 1), -EFBIG);
	assert_int_equal(sf_object_write(object, SF_OBJECT_BYTES_MAX + 1, bytes, 1), -EINVAL);
	assert_int_equal(sf_object_read(object, SF_OBJECT_BYTES_MAX + 1, bytes, 1), -EINVAL);
	assert_int_equal(sf_object_write(object, SF_OBJECT_BYTES_MAX - 2, bytes, 8), 2);
	assert_int_equal(object_size(object), SF_OBJECT_BYTES_MAX);
	assert_int_equal(sf_object_sync(object), 0);
	sf_object_close(object);
}

/* S S S . S S    cut, moved, grown, joined: the object knows each piece. */
static void mappings_are_cut_and_moved(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = object_open(system, 8 * PAGE, 0);
	struct sf_object_statistics statistics;
	unsigned char resident[8];
	uint64_t mapped;

	(void)policy;
	map_object_at(space, HERE, 6, RW, SHARED, object, 0);
	for (unsigned page = 0; page < 6; page++)
		put_byte(space, HERE + page * PAGE, (unsigned char)(page + 1));
	assert_int_equal(sf_unmap(space, HERE + 3 * PAGE, PAGE), 0);
	assert_int_equal(sf_protect(space, HERE, PAGE, SF_PROT_READ), 0);
	sf_object_statistics(object, &statistics);
	assert_int_equal(statistics.mappings, 3);
	assert_int_equal(sf_protect(space, HERE, PAGE, RW), 0);
	put_byte(space, HERE, 10);
	map_object_at(space, HERE + 3 * PAGE, 1, RW, SHARED, object, 3 * PAGE);
	sf_object_statistics(object, &statistics);
	assert_int_equal(statistics.mappings, 1);
	assert_int_equal(sf_remap(space, HERE + 2 * PAGE, 2 * PAGE, 2 * PAGE,
				  SF_REMAP_MAYMOVE | SF_REMAP_FIXED, THERE, &mapped),
			 0);
	assert_good(system);
	assert_int_equal(get_byte(space, THERE), 3);
	assert_int_equal(get_byte(space, THERE + PAGE), 4);
	/* A second mapping of the same, and one that reaches beyond the object. */
	assert_int_equal(sf_remap(space, THERE, 0, PAGE, SF_REMAP_MAYMOVE, 0, &mapped), 0);
	assert_int_equal(get_byte(space, mapped), 3);
	assert_int_equal(sf_remap(space, THERE, 2 * PAGE, 8 * PAGE, 0, 0, &mapped), 0);
	assert_touch(space, THERE + 5 * PAGE, SF_READ);
	assert_sigbus(space, THERE + 6 * PAGE, SF_READ);
	assert_int_equal(sf_object_resize(object, 2 * PAGE), 0);
	assert_sigbus(space, THERE, SF_READ);
	assert_int_equal(system_pte(space, HERE + 4 * PAGE), 0);
	assert_int_equal(get_byte(space, HERE), 10);
	assert_int_equal(sf_object_resize(object, 8 * PAGE), 0);
	/* mincore tells of pages that nobody maps, too. */
	object_put_byte(object, 5 * PAGE, 1);
	assert_int_equal(sf_mincore(space, THERE, 4 * PAGE, resident), 0);
	assert_int_equal(resident[0], 0);
	assert_int_equal(resident[3], 1);
	assert_good(system);
	sf_object_close(object);
	sf_space_destroy(space);
}

static void msync_says_what_linux_says(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = object_open(system, 8 * PAGE, 0);

	(void)policy;
	map_object_at(space, HERE, 4, RW, SHARED, object, 0);
	map_at(space, HERE + 6 * PAGE, 1, RW, PRIVATE);
	assert_int_equal(sf_sync(space, HERE, 4 * PAGE, SF_SYNC_SYNC), 0);
	assert_int_equal(sf_sync(space, HERE, 0, SF_SYNC_SYNC), 0);
	assert_int_equal(sf_sync(space, HERE, 1, 0), 0);
	assert_int_equal(sf_sync(space, HERE + 1, 1, SF_SYNC_SYNC), -EINVAL);
	assert_int_equal(sf_sync(space, HERE, PAGE, 8), -EINVAL);
	assert_int_equal(sf_sync(space, HERE, PAGE, SF_SYNC_SYNC | SF_SYNC_ASYNC), -EINVAL);
	assert_int_equal(sf_sync(space, HERE, UINT64_MAX - PAGE, SF_SYNC_SYNC), -ENOMEM);
	assert_int_equal(sf_sync(space, HERE, 7 * PAGE, SF_SYNC_ASYNC), -ENOMEM);
	assert_int_equal(sf_sync(space, HERE, 7 * PAGE, SF_SYNC_SYNC), -ENOMEM);
	assert_int_equal(sf_sync(space, HERE + 6 * PAGE, 2 * PAGE, 0), -ENOMEM);
	assert_int_equal(sf_lock(space, HERE + PAGE, PAGE), 0);
	assert_int_equal(sf_sync(space, HERE, PAGE, SF_SYNC_INVALIDATE), 0);
	assert_int_equal(sf_sync(space, HERE, 2 * PAGE, SF_SYNC_INVALIDATE), -EBUSY);
	sf_object_close(object);
	sf_space_destroy(space);
}

#define CASE(name)                                        \
	static void name##_with_each_policy(void **state) \
	{                                                 \
		(void)state;                              \
		for_each_object_policy(512, name);        \
	}
CASE(all_see_the_same)
CASE(private_pages_are_copied)
CASE(it_ends_at_its_size)
CASE(the_rest_of_the_last_page_is_zeroed)
CASE(holes_are_punched)
CASE(a_limit_is_exact)
CASE(offsets_are_read_and_written)
CASE(mappings_are_cut_and_moved)
CASE(msync_says_what_linux_says)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(all_see_the_same_with_each_policy),
	    fault_test(private_pages_are_copied_with_each_policy),
	    fault_test(it_ends_at_its_size_with_each_policy),
	    fault_test(the_rest_of_the_last_page_is_zeroed_with_each_policy),
	    fault_test(holes_are_punched_with_each_policy),
	    fault_test(a_limit_is_exact_with_each_policy),
	    fault_test(offsets_are_read_and_written_with_each_policy),
	    fault_test(mappings_are_cut_and_moved_with_each_policy),
	    fault_test(msync_says_what_linux_says_with_each_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
