/* SPDX-License-Identifier: MIT */
/*
 * Files: writing back against write faults, transfers that end late, writes that fail, and the end.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/object/cache.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

#define AGAIN (AT + PAGE)

static int setup_read(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_file(2);
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	check_equal(fixture_load(fixture.space, AT), 1);
	return 0;
}

static void swap_word(void)
{
	uint64_t expected = 0;

	fixture.result[0] = sf_compare_swap_64(fixture.space, AT + 8, &expected, 3, NULL);
}

static void sync_file(void)
{
	fixture.result[1] = sf_object_sync(fixture.object);
}

/* Clean pages are what the file has; and what was written gets there in the end. */
static bool holds_written(struct message *why)
{
	if (!fixture_good(why) || !fixture_file_good(why))
		return false;
	check_equal(sf_object_sync(fixture.object), 0);
	return fixture_equal("what the swap returned", (uint64_t)(int64_t)fixture.result[0], 1, why) &&
	       fixture_equal("what the sync returned", (uint64_t)(int64_t)fixture.result[1], 0, why) &&
	       fixture_equal("the word of the file", fixture.file.word[0][1], 3, why);
}

const struct check write_back_right_check = {
    .name = "write-back-right",
    .summary = "a write fault that gives an entry of a clean page its right against a write-back",
    .setup = setup_read,
    .body = {swap_word, sync_file},
    .holds = holds_written,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* The page is dirty, so that it will be written, but the entry is not there. */
static int setup_unmapped(struct message *why)
{
	int error = setup_read(why);

	if (error)
		return error;
	fixture_store(fixture.space, AT, 5);
	check_that(!sf_advise(fixture.space, AT, PAGE, SF_ADVICE_DONTNEED));
	return 0;
}

const struct check write_back_map_check = {
    .name = "write-back-map",
    .summary = "a write fault that maps a dirty page against a write-back",
    .setup = setup_unmapped,
    .body = {swap_word, sync_file},
    .holds = holds_written,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* The entry can be written through, and is taken away. */
static int setup_written(struct message *why)
{
	int error = setup_read(why);

	if (!error)
		fixture_store(fixture.space, AT, 5);
	return error;
}

static void give_back(void)
{
	check_that(!sf_advise(fixture.space, AT, PAGE, SF_ADVICE_DONTNEED));
}

const struct check write_back_unmap_check = {
    .name = "write-back-unmap",
    .summary = "a write through an entry that is taken away against a write-back that finds it gone",
    .setup = setup_written,
    .body = {swap_word, sync_file, give_back},
    .holds = holds_written,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* Two CPUs write the page back, and one's write fails. */
static int setup_failing(struct message *why)
{
	int error = setup_read(why);

	if (error)
		return error;
	fixture_store(fixture.space, AT + 8, 3);
	atomic_store_explicit(&fixture.file.failures, 1, memory_order_relaxed);
	return 0;
}

static void sync_too(void)
{
	fixture.result[0] = sf_object_sync(fixture.object);
}

static bool holds_told_once(struct message *why)
{
	int told = (fixture.result[0] == -EIO) + (fixture.result[1] == -EIO);

	if (!fixture_good(why) || !fixture_file_good(why))
		return false;
	check_equal(sf_object_sync(fixture.object), 0);
	return fixture_equal("times that the failure was told", (uint64_t)told, 1, why) &&
	       fixture_equal("the word of the file", fixture.file.word[0][1], 3, why);
}

const struct check write_back_fails_check = {
    .name = "write-back-fails",
    .summary = "two write-backs of one page, of which one fails: it is told once, and nothing is lost",
    .setup = setup_failing,
    .body = {sync_too, sync_file},
    .holds = holds_told_once,
    .teardown = fixture_close,
    .variants = variants_lock,
};

/* --- Reads that another CPU ends ------------------------------------------------------------------------ */

static int setup_late(struct message *why)
{
	int error = setup_read(why);

	if (!error)
		fixture.file.late = true;
	return error;
}

static void read_late(void)
{
	fixture.result[0] = sf_touch(fixture.space, AGAIN, SF_READ, NULL);
	check_that(!fixture.result[0] || fixture.result[0] == -EFAULT);
	file_no_more(&fixture.file);
}

static void truncate(void)
{
	check_that(!sf_object_resize(fixture.object, PAGE));
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, AGAIN, PAGE));
}

static void complete(void)
{
	file_complete(&fixture.file);
}

static bool holds_gone(struct message *why)
{
	struct sf_object_statistics statistics;

	sf_object_statistics(fixture.object, &statistics);
	return fixture_good(why) && fixture_equal("the entry", system_pte(fixture.space, AGAIN), 0, why) &&
	       fixture_equal("bytes of pages", statistics.cached, PAGE, why);
}

const struct check file_late_check = {
    .name = "file-late",
    .summary = "a read fault, whose transfer another CPU ends, against a truncate and an unmap",
    .setup = setup_late,
    .body = {read_late, truncate, unmap, complete},
    .holds = holds_gone,
    .teardown = fixture_close,
    .variants = variants_lookup,
};

/* Two faults of one page: one reads it, the other waits for it. */
static _Atomic unsigned readers;

static int setup_late_twice(struct message *why)
{
	atomic_init(&readers, 2);
	return setup_late(why);
}

static void read_word(unsigned cpu)
{
	uint64_t value = 0;

	check_that(sf_read(fixture.space, AGAIN, &value, sizeof(value), NULL) == sizeof(value));
	fixture.result[cpu] = (int)value;
	if (atomic_fetch_sub_explicit(&readers, 1, memory_order_acq_rel) == 1)
		file_no_more(&fixture.file);
}

static void read_first(void)
{
	read_word(0);
}

static void read_second(void)
{
	read_word(1);
}

static bool holds_read(struct message *why)
{
	return fixture_good(why) && fixture_file_good(why) &&
	       fixture_equal("the first reader's word", (uint64_t)fixture.result[0], 2, why) &&
	       fixture_equal("the second reader's word", (uint64_t)fixture.result[1], 2, why) &&
	       fixture_equal("transfers", atomic_load(&fixture.file.begun), 2, why);
}

const struct check file_late_twice_check = {
    .name = "file-late-twice",
    .summary = "two read faults of one page, whose transfer another CPU ends",
    .setup = setup_late_twice,
    .body = {read_first, read_second, complete},
    .holds = holds_read,
    .teardown = fixture_close,
    .variants = variants_lookup,
};

/* --- The end -------------------------------------------------------------------------------------------- */

static int setup_dirty(struct message *why)
{
	int error = setup_read(why);

	if (!error)
		fixture_store(fixture.space, AT, 5);
	return error;
}

static void unmap_all(void)
{
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
}

static void close_handle(void)
{
	struct sf_object *object = fixture.object;

	fixture.object = NULL;
	sf_object_close(object);
}

static bool holds_ended(struct message *why)
{
	if (!fixture_good(why))
		return false;
	port_rcu_barrier();
	return fixture_equal("times that the file was released", atomic_load(&fixture.file.released), 1,
			     why) &&
	       fixture_equal("the file's first word", fixture.file.word[0][0], 5, why) &&
	       fixture_equal("the file's second word", fixture.file.word[0][1],
			     fixture.result[0] == 1 ? 3 : 0, why);
}

const struct check file_end_check = {
    .name = "file-end",
    .summary = "a write to a file's page against the ends of its mapping and of its handle",
    .setup = setup_dirty,
    .body = {swap_word, unmap_all, close_handle},
    .holds = holds_ended,
    .teardown = fixture_close,
    .variants = variants_lookup,
};

/* The fault has the last reference, for which it waits. */
static void read_and_wait(void)
{
	fixture.result[0] = sf_touch(fixture.space, AGAIN, SF_READ, NULL);
	check_that(!fixture.result[0] || fixture.result[0] == -EFAULT);
}

static bool holds_released(struct message *why)
{
	if (!fixture_good(why))
		return false;
	port_rcu_barrier();
	return fixture_equal("times that the file was released", atomic_load(&fixture.file.released), 1, why);
}

const struct check file_end_read_check = {
    .name = "file-end-read",
    .summary = "a read fault that waits against the ends of the file's mapping and of its handle",
    .setup = setup_read,
    .body = {read_and_wait, unmap_all, close_handle},
    .holds = holds_released,
    .teardown = fixture_close,
    .variants = variants_lookup,
};
