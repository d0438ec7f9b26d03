/* SPDX-License-Identifier: MIT */
/*
 * Files over a backing in memory: when pages are read and written, what is dirty, and what happens when the
 * backing fails.
 */
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/object_fixture.h"

#define FILE_PAGES 40u
#define HERE       BASE
#define THERE      (BASE + 64 * PAGE)

static struct memory_backing file;

static struct sf_object *file_open(struct sf_system *system, uint64_t size)
{
	struct sf_object *object = NULL;

	memory_backing_open(&file, size, FILE_PAGES * PAGE);
	for (uint64_t i = 0; i < size; i++)
		file.bytes[i] = (unsigned char)(i / PAGE + i + 1);
	assert_int_equal(sf_file_open(system, &file.backing, &object), 0);
	return object;
}

static unsigned char file_byte(uint64_t i)
{
	return (unsigned char)(i / PAGE + i + 1);
}

static void file_close(struct sf_system *system, struct sf_object *object)
{
	assert_false(file.released);
	sf_object_close(object);
	assert_good(system);
	assert_true(file.released);
	memory_backing_close(&file);
}

static struct sf_object_statistics statistics_of(struct sf_object *object)
{
	struct sf_object_statistics statistics;

	sf_object_statistics(object, &statistics);
	return statistics;
}

static void pages_are_read_when_needed(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = file_open(system, 3 * PAGE + 100);
	struct sf_space_statistics statistics;

	(void)policy;
	map_object_at(space, HERE, 5, RW, SHARED, object, 0);
	map_object_at(space, THERE, 5, RW, PRIVATE, object, 0);
	assert_int_equal(atomic_load(&file.reads), 0);
	assert_int_equal(get_byte(space, HERE + PAGE + 3), file_byte(PAGE + 3));
	assert_int_equal(get_byte(space, THERE + PAGE + 4), file_byte(PAGE + 4));
	assert_int_equal(object_byte(object, PAGE + 5), file_byte(PAGE + 5));
	assert_int_equal(atomic_load(&file.reads), 1);
	put_byte(space, THERE + 2 * PAGE, 1);
	assert_int_equal(atomic_load(&file.reads), 2);
	/* Behind the end there are zeroes, and a page later nothing. */
	assert_int_equal(get_byte(space, HERE + 3 * PAGE + 99), file_byte(3 * PAGE + 99));
	assert_int_equal(get_byte(space, HERE + 3 * PAGE + 100), 0);
	assert_sigbus(space, HERE + 4 * PAGE, SF_READ);
	assert_int_equal(atomic_load(&file.reads), 3);
	sf_space_statistics(space, &statistics);
	assert_int_equal(statistics.major_faults, 3);
	assert_int_equal(statistics.minor_faults, 1);
	/* What is overwritten as a whole is not read, and what is written in part is. */
	assert_int_equal(sf_object_write(object, 0, file.bytes + PAGE, PAGE), PAGE);
	assert_int_equal(atomic_load(&file.reads), 3);
	assert_int_equal(object_byte(object, 5), file_byte(PAGE + 5));
	assert_int_equal(atomic_load(&file.writes), 0);
	sf_space_destroy(space);
	file_close(system, object);
}

static void what_is_dirty_is_written(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system), *other = fault_space(system);
	struct sf_object *object = file_open(system, 8 * PAGE + 50);
	/* Then mappings have their right always, and entries know what is dirty until they are asked. */
	bool by_pte = strstr(policy, "dirty_tracking=pte") != NULL;

	map_object_at(space, HERE, 9, RW, SHARED, object, 0);
	map_object_at(other, HERE, 9, RW, SHARED, object, 0);
	assert_touch(space, HERE, SF_READ);
	assert_touch(other, HERE + PAGE, SF_READ);
	assert_true(by_pte || !(system_pte(space, HERE) & PTE_WRITE));
	assert_int_equal(statistics_of(object).dirty, 0);
	put_byte(space, HERE, 1);
	put_byte(other, HERE, 2);
	put_byte(other, HERE + 2 * PAGE, 3);
	object_put_byte(object, 3 * PAGE, 4);
	put_byte(space, HERE + 8 * PAGE + 49, 5);
	put_byte(space, HERE + 8 * PAGE + 50, 6);
	assert_int_equal(statistics_of(object).dirty, by_pte ? PAGE : 4 * PAGE);
	assert_good(system);
	/* Only what the range has; runs of neighbours at once. */
	assert_int_equal(sf_sync(space, HERE + 2 * PAGE, 2 * PAGE, SF_SYNC_ASYNC), 0);
	assert_int_equal(atomic_load(&file.writes), 0);
	assert_int_equal(sf_sync(space, HERE + 2 * PAGE, 2 * PAGE, SF_SYNC_SYNC), 0);
	assert_int_equal(atomic_load(&file.writes), 1);
	assert_int_equal(file.bytes[2 * PAGE], 3);
	assert_int_equal(file.bytes[3 * PAGE], 4);
	assert_int_equal(file.bytes[0], file_byte(0));
	assert_true(by_pte || !(system_pte(other, HERE + 2 * PAGE) & PTE_WRITE));
	assert_true(system_pte(other, HERE) & PTE_WRITE);
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(atomic_load(&file.writes), 3);
	assert_int_equal(file.bytes[0], 2);
	assert_int_equal(file.size, 8 * PAGE + 50);
	assert_int_equal(file.bytes[8 * PAGE + 49], 5);
	assert_int_equal(statistics_of(object).dirty, 0);
	assert_true(by_pte || !(system_pte(space, HERE) & PTE_WRITE));
	assert_true(by_pte || !(system_pte(other, HERE) & PTE_WRITE));
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(atomic_load(&file.writes), 3);
	/* Written to again, by the space whose right was taken away. */
	put_byte(space, HERE + 1, 9);
	assert_int_equal(statistics_of(object).dirty, by_pte ? 0 : PAGE);
	assert_true(by_pte || !(system_pte(other, HERE) & PTE_WRITE));
	put_byte(other, HERE + 4 * PAGE, 7);
	sf_space_destroy(other);
	assert_int_equal(file.bytes[1], file_byte(1));
	/* The last one that has it writes what is left. */
	sf_object_close(object);
	assert_false(file.released);
	sf_space_destroy(space);
	assert_good(system);
	assert_true(file.released);
	assert_int_equal(file.bytes[1], 9);
	assert_int_equal(file.bytes[4 * PAGE], 7);
	memory_backing_close(&file);
}

/* What comes through a pin after a write-back is written by the next one. */
static void pins_make_dirty_again(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = file_open(system, 2 * PAGE);
	struct sf_pin pin, other;
	unsigned char *byte;

	(void)policy;
	map_object_at(space, HERE, 2, RW, SHARED, object, 0);
	byte = sf_pin(space, HERE + 3, SF_WRITE, &pin, NULL);
	assert_non_null(byte);
	assert_non_null(sf_pin(space, HERE + PAGE, SF_READ, &other, NULL));
	assert_int_equal(sf_object_sync(object), 0);
	*byte = 77;
	assert_int_equal(statistics_of(object).dirty, 0);
	sf_unpin(system, &pin);
	sf_unpin(system, &other);
	assert_int_equal(statistics_of(object).dirty, PAGE);
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(file.bytes[3], 77);
	sf_space_destroy(space);
	file_close(system, object);
}

/* A private mapping makes nothing dirty, and its copies are its own. */
static void private_writes_stay_private(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system), *child;
	struct sf_object *object = file_open(system, 4 * PAGE);

	(void)policy;
	map_object_at(space, HERE, 4, RW, PRIVATE, object, 0);
	put_byte(space, HERE, 1);
	assert_touch(space, HERE + PAGE, SF_READ);
	put_byte(space, HERE + PAGE, 2);
	assert_int_equal(sf_space_fork(space, &child), 0);
	put_byte(child, HERE, 3);
	assert_int_equal(get_byte(space, HERE), 1);
	assert_int_equal(sf_sync(space, HERE, 4 * PAGE, SF_SYNC_SYNC), 0);
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(atomic_load(&file.writes), 0);
	assert_int_equal(object_byte(object, PAGE), file_byte(PAGE));
	assert_int_equal(sf_object_resize(object, PAGE), 0);
	assert_sigbus(child, HERE + PAGE, SF_READ);
	assert_int_equal(get_byte(child, HERE), 3);
	sf_space_destroy(child);
	sf_space_destroy(space);
	file_close(system, object);
}

/* Refused at once, or told later; to a mapping, to an offset. */
static void a_page_that_cannot_be_read_is_not_there(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = file_open(system, 8 * PAGE);
	char byte;

	(void)policy;
	map_object_at(space, HERE, 8, RW, SHARED, object, 0);
	map_object_at(space, THERE, 8, RW, PRIVATE, object, 0);
	for (int late = 0; late < 2; late++) {
		file.late = late;
		atomic_store(&file.good, 0);
		assert_sigbus(space, HERE + PAGE, SF_READ);
		assert_sigbus(space, HERE + PAGE, SF_WRITE);
		assert_sigbus(space, THERE + PAGE, SF_WRITE);
		assert_int_equal(sf_object_read(object, PAGE, &byte, 1), -EIO);
		assert_int_equal(sf_object_write(object, PAGE, &byte, 1), -EIO);
		assert_int_equal(sf_object_punch(object, PAGE + 1, 1), -EIO);
		assert_int_equal(sf_advise(space, HERE, PAGE, SF_ADVICE_POPULATE_READ), -EFAULT);
		assert_int_equal(sf_lock(space, HERE, PAGE), -ENOMEM);
		assert_int_equal(sf_unlock(space, HERE, PAGE), 0);
		assert_int_equal(system_pte(space, HERE + PAGE), 0);
		/* Each has one frame, however often it is tried. */
		for (unsigned i = 0; i < 2000; i++)
			assert_sigbus(space, HERE + PAGE, SF_READ);
		assert_int_equal(statistics_of(object).cached, 2 * PAGE);
		assert_good(system);
		atomic_store(&file.good, 2 * PAGE);
	}
	/* What there is of a longer copy. */
	atomic_store(&file.good, 2);
	assert_int_equal(sf_object_read(object, 10, (char[4 * PAGE]){0}, 4 * PAGE), 2 * PAGE - 10);
	assert_int_equal(get_byte(space, HERE + PAGE), file_byte(PAGE));
	atomic_store(&file.good, MEMORY_BACKING_NEVER);
	assert_int_equal(get_byte(space, HERE + 2 * PAGE), file_byte(2 * PAGE));
	sf_space_destroy(space);
	file_close(system, object);
}

static void a_failed_write_is_told_once(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = file_open(system, 8 * PAGE);

	(void)policy;
	map_object_at(space, HERE, 8, RW, SHARED, object, 0);
	for (int late = 0; late < 2; late++) {
		unsigned char value = (unsigned char)(100 + late);

		file.late = late;
		file.error = late ? -ENOSPC : -EIO;
		put_byte(space, HERE, value);
		put_byte(space, HERE + 4 * PAGE, value);
		atomic_store(&file.good, 1);
		file.fails_once = true;
		assert_int_equal(sf_sync(space, HERE, 8 * PAGE, SF_SYNC_SYNC), file.error);
		assert_int_equal(atomic_load(&file.good), MEMORY_BACKING_NEVER);
		assert_int_equal(file.bytes[0], value);
		assert_int_not_equal(file.bytes[4 * PAGE], value);
		assert_int_equal(statistics_of(object).dirty, PAGE);
		assert_good(system);
		/* A range without the page has nothing to tell. */
		assert_int_equal(sf_sync(space, HERE, PAGE, SF_SYNC_SYNC), 0);
		assert_int_equal(statistics_of(object).dirty, PAGE);
		assert_int_equal(sf_object_sync(object), 0);
		assert_int_equal(file.bytes[4 * PAGE], value);
		assert_int_equal(statistics_of(object).dirty, 0);
	}
	/* What the backing's own sync says. */
	put_byte(space, HERE, 1);
	atomic_store(&file.good, 1);
	file.error = -EIO;
	assert_int_equal(sf_object_sync(object), -EIO);
	assert_int_equal(sf_object_sync(object), 0);
	sf_space_destroy(space);
	file_close(system, object);
}

static void sizes_are_the_backings(struct sf_system *system, const char *policy)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object = file_open(system, 4 * PAGE);

	(void)policy;
	map_object_at(space, HERE, 8, RW, SHARED, object, 0);
	put_byte(space, HERE + 2 * PAGE, 1);
	atomic_store(&file.good, 0);
	assert_int_equal(sf_object_resize(object, PAGE), -EIO);
	assert_int_equal(sf_object_resize(object, 9 * PAGE), -EIO);
	assert_int_equal(sf_object_punch(object, 0, 4 * PAGE), -EIO);
	assert_int_equal(get_byte(space, HERE + 2 * PAGE), 1);
	assert_int_equal(object_size(object), 4 * PAGE);
	atomic_store(&file.good, MEMORY_BACKING_NEVER);
	assert_int_equal(sf_object_resize(object, PAGE + 10), 0);
	assert_int_equal(file.size, PAGE + 10);
	put_byte(space, HERE + PAGE + 10, 5);
	assert_int_equal(sf_object_resize(object, 3 * PAGE), 0);
	assert_int_equal(file.size, 3 * PAGE);
	/* As a file system, unlike tmpfs: what was written behind the end is not the file's. */
	assert_int_equal(get_byte(space, HERE + PAGE + 10), 0);
	assert_int_equal(get_byte(space, HERE + 2 * PAGE), 0);
	object_put_byte(object, 7 * PAGE, 3);
	assert_int_equal(object_size(object), 7 * PAGE + 1);
	assert_int_equal(get_byte(space, HERE + 5 * PAGE), 0);
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(file.size, 7 * PAGE + 1);
	assert_int_equal(sf_object_punch(object, PAGE - 1, 6 * PAGE + 2), 0);
	assert_int_equal(object_byte(object, PAGE - 2), file_byte(PAGE - 2));
	assert_int_equal(object_byte(object, PAGE - 1), 0);
	assert_int_equal(object_byte(object, 7 * PAGE), 0);
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(file.bytes[PAGE - 1], 0);
	assert_int_equal(file.bytes[PAGE - 2], file_byte(PAGE - 2));
	assert_int_equal(file.bytes[7 * PAGE], 0);
	sf_space_destroy(space);
	file_close(system, object);
}

static void what_cannot_be_is_refused(void **state)
{
	struct sf_backing_ops few = memory_backing_ops;
	struct system_config config = {.own_frames = 64, .structure_only = true};
	struct sf_system *system = object_system("default", 64);
	struct sf_object *object = file_open(system, 2 * PAGE);
	struct sf_backing large = {.ops = &memory_backing_ops, .bytes = SF_OBJECT_BYTES_MAX + 1};
	struct sf_object *none;

	(void)state;
	few.resize = NULL;
	few.punch = NULL;
	few.sync = NULL;
	file.backing.ops = &few;
	assert_int_equal(sf_object_resize(object, PAGE), -EOPNOTSUPP);
	assert_int_equal(sf_object_punch(object, 0, PAGE), -EOPNOTSUPP);
	assert_int_equal(sf_object_punch(object, 1, 2), 0);
	assert_int_equal(sf_object_sync(object), 0);
	assert_int_equal(sf_file_open(system, &large, &none), -EINVAL);
	file_close(system, object);
	object_system_end(system);
	assert_int_equal(system_create(&config, &system, NULL), 0);
	assert_int_equal(sf_file_open(system, &file.backing, &none), -EINVAL);
	system_destroy(system);
}

#define CASE(name)                                        \
	static void name##_with_each_policy(void **state) \
	{                                                 \
		(void)state;                              \
		for_each_object_policy(512, name);        \
	}
CASE(pages_are_read_when_needed)
CASE(what_is_dirty_is_written)
CASE(pins_make_dirty_again)
CASE(private_writes_stay_private)
CASE(a_page_that_cannot_be_read_is_not_there)
CASE(a_failed_write_is_told_once)
CASE(sizes_are_the_backings)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(pages_are_read_when_needed_with_each_policy),
	    fault_test(what_is_dirty_is_written_with_each_policy),
	    fault_test(pins_make_dirty_again_with_each_policy),
	    fault_test(private_writes_stay_private_with_each_policy),
	    fault_test(a_page_that_cannot_be_read_is_not_there_with_each_policy),
	    fault_test(a_failed_write_is_told_once_with_each_policy),
	    fault_test(sizes_are_the_backings_with_each_policy),
	    fault_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
