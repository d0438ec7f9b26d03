/* SPDX-License-Identifier: MIT */
/*
 * Pages of objects that reclaim takes, and that come back, against those who use, cut and write them: no word
 * is lost, and no page is mapped that its object has not.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/object/cache.h"
#include "tests/explore/fixture.h"

#define STORED UINT64_C(0x10)

/* A file of two pages, mapped, and read. */
static int setup_file(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_file(2);
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	check_equal(fixture_load(fixture.space, AT), 1);
	check_equal(fixture_load(fixture.space, AT + PAGE), 2);
	return 0;
}

/* Shared memory of two pages with a word in each, and swap. */
static int setup_shared(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_swap();
	fixture_shmem(2, 0);
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	fixture_store(fixture.space, AT, 1);
	fixture_store(fixture.space, AT + PAGE, 2);
	return 0;
}

static int setup_out(struct message *why)
{
	int error = setup_shared(why);

	if (!error)
		check_equal(fixture_evict(0, 2), 2);
	return error;
}

static void evict_first(void)
{
	fixture_evict(0, 1);
}

static void evict_both(void)
{
	fixture_evict(0, 2);
}

static void swap_word(void)
{
	uint64_t expected = 0;

	check_equal((uint64_t)(int64_t)sf_compare_swap_64(fixture.space, AT + 8, &expected, STORED, NULL), 1);
}

static void store_by_offset(void)
{
	const uint64_t value = STORED + 1;

	check_equal((uint64_t)sf_object_write(fixture.object, 16, &value, sizeof(value)), sizeof(value));
}

static void read_by_offset(void)
{
	uint64_t value = 0;

	check_equal((uint64_t)sf_object_read(fixture.object, 0, &value, sizeof(value)), sizeof(value));
	check_equal(value, 1);
}

static void load(void)
{
	check_equal(fixture_load(fixture.space, AT), 1);
}

/* The words of the page, and, of a file, what the file has in the end. */
static bool holds_words(struct message *why)
{
	if (!fixture_good(why) || !fixture_file_good(why))
		return false;
	check_that(!sf_object_sync(fixture.object));
	return fixture_equal("the first word", fixture_load(fixture.space, AT), 1, why) &&
	       fixture_equal("the word that was swapped", fixture_load(fixture.space, AT + 8), STORED, why) &&
	       (!fixture.object->file ||
		fixture_equal("the word of the file", fixture.file.word[0][1], STORED, why)) &&
	       fixture_good(why);
}

const struct check evict_fault_check = {
    .name = "evict-fault",
    .summary = "reclaim of a file's page against a write through a mapping and a read",
    .setup = setup_file,
    .body = {evict_first, swap_word, load},
    .holds = holds_words,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

const struct check evict_store_check = {
    .name = "evict-store",
    .summary = "reclaim of shared memory against a write through a mapping and one by offset",
    .setup = setup_shared,
    .body = {evict_first, swap_word, store_by_offset},
    .holds = holds_words,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* The first page is clean, and stays mapped when reclaim wants it: the mapping is locked in memory. */
static int setup_locked(struct message *why)
{
	int error = setup_file(why);

	if (error)
		return error;
	check_that(!sf_lock(fixture.space, AT, PAGE));
	check_that(!sf_object_sync(fixture.object));
	return 0;
}

static void swap_word_and_unmap(void)
{
	swap_word();
	check_that(!sf_unmap(fixture.space, AT, PAGE));
}

static bool holds_unmapped(struct message *why)
{
	if (!fixture_good(why) || !fixture_file_good(why))
		return false;
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	return holds_words(why);
}

const struct check evict_unmap_check = {
    .name = "evict-unmap",
    .summary = "reclaim of a file's page that is mapped against a write through the mapping and its end",
    .setup = setup_locked,
    .body = {evict_first, swap_word_and_unmap},
    .holds = holds_unmapped,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

static bool holds_first(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("the first word", fixture_load(fixture.space, AT), 1, why) && fixture_good(why);
}

const struct check evict_read_check = {
    .name = "evict-read",
    .summary = "two that reclaim a page of shared memory against one that reads it",
    .setup = setup_shared,
    .body = {evict_first, evict_both, read_by_offset},
    .holds = holds_first,
    .teardown = fixture_close,
    .variants = variants_object,
};

static void truncate(void)
{
	check_that(!sf_object_resize(fixture.object, 4));
	check_that(!system_pte(fixture.space, AT + PAGE));
}

/* Grown again, what was cut off is zeroes, and so is the rest of the page that was cut. */
static bool holds_cut(struct message *why)
{
	if (!fixture_good(why))
		return false;
	check_that(!sf_object_resize(fixture.object, 2 * PAGE));
	return fixture_equal("the first word", fixture_load(fixture.space, AT), 1, why) &&
	       fixture_equal("the second word", fixture_load(fixture.space, AT + 8), 0, why) &&
	       fixture_equal("the page that was cut off", fixture_load(fixture.space, AT + PAGE), 0, why) &&
	       fixture_good(why);
}

const struct check evict_truncate_check = {
    .name = "evict-truncate",
    .summary = "reclaim of shared memory against a truncate",
    .setup = setup_shared,
    .body = {evict_both, truncate},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* No byte of a page that others read. */
static void cut_second(void)
{
	check_that(!sf_object_resize(fixture.object, PAGE));
	check_that(!system_pte(fixture.space, AT + PAGE));
}

const struct check evict_truncate_file_check = {
    .name = "evict-truncate-file",
    .summary = "reclaim of a file's pages against a truncate",
    .setup = setup_file,
    .body = {evict_both, cut_second, load},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

static void load_second(void)
{
	uint64_t value = 0;
	size_t read = sf_read(fixture.space, AT + PAGE, &value, sizeof(value), NULL);

	/* Zero: of a hole. */
	check_that(!read || value == 2 || !value);
}

/* Two spaces, and one by offset. */
static int setup_out_twice(struct message *why)
{
	int error = setup_out(why);

	if (!error)
		fixture_fork();
	return error;
}

static void store_in_child(void)
{
	fixture_store(fixture.child, AT + 24, STORED);
}

static bool holds_both(struct message *why)
{
	return holds_words(why) &&
	       fixture_equal("the child's word", fixture_load(fixture.space, AT + 24), STORED, why);
}

const struct check shared_in_twice_check = {
    .name = "shared-in-twice",
    .summary = "two spaces and a read by offset that swap one page of shared memory in",
    .setup = setup_out_twice,
    .body = {swap_word, store_in_child, read_by_offset},
    .holds = holds_both,
    .teardown = fixture_close,
    .variants = variants_object,
};

const struct check shared_in_truncate_check = {
    .name = "shared-in-truncate",
    .summary = "a fault that swaps a page of shared memory in against a truncate",
    .setup = setup_out,
    .body = {load_second, truncate},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_object,
};

static void punch(void)
{
	check_that(!sf_object_punch(fixture.object, 8, 2 * PAGE - 8));
}

const struct check shared_in_punch_check = {
    .name = "shared-in-punch",
    .summary = "faults that swap shared memory in against a hole that cuts one page and takes one away",
    .setup = setup_out,
    .body = {load, load_second, punch},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_object,
};

const struct check shared_in_evict_check = {
    .name = "shared-in-evict",
    .summary = "a fault that swaps a page of shared memory in against reclaim of it",
    .setup = setup_out,
    .body = {swap_word, evict_first},
    .holds = holds_words,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};
