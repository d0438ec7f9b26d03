/* SPDX-License-Identifier: MIT */
/*
 * Write-back in the background, which looks only where pages are marked dirty: against those who make them
 * dirty again, cut the file, write it back as well, and reclaim it. No mark is lost: what is dirty in the end
 * is found.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/object/cache.h"
#include "tests/explore/fixture.h"

#define STORED UINT64_C(0x10)

/* A file of two pages, the first one dirty and mapped. */
static int setup_dirty(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_file(2);
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	fixture_store(fixture.space, AT, 5);
	return 0;
}

static void write_back(void)
{
	sf_write_back(fixture.system, 2 * PAGE);
}

static void swap_word(void)
{
	uint64_t expected = 0;

	check_equal((uint64_t)(int64_t)sf_compare_swap_64(fixture.space, AT + 8, &expected, STORED, NULL), 1);
}

static void store_second(void)
{
	const uint64_t value = STORED;

	check_equal((uint64_t)sf_object_write(fixture.object, PAGE, &value, sizeof(value)), sizeof(value));
}

static void sync_file(void)
{
	check_that(!sf_object_sync(fixture.object));
}

static void evict(void)
{
	fixture_evict(0, 1);
}

/* With the mappings gone all that was dirty is marked, also what only entries knew. */
static bool holds_found(struct message *why)
{
	struct sf_object_statistics statistics;

	if (!fixture_good(why) || !fixture_file_good(why))
		return false;
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
	while (sf_write_back(fixture.system, PAGE))
		;
	sf_object_statistics(fixture.object, &statistics);
	return fixture_equal("dirty bytes", statistics.dirty, 0, why) &&
	       fixture_equal("the first word of the file", fixture.file.word[0][0], 5, why) &&
	       fixture_equal("the second", fixture.file.word[0][1], STORED, why) && fixture_good(why);
}

const struct check write_back_redirty_check = {
    .name = "write-back-redirty",
    .summary = "write-back in the background against writes that make pages dirty again",
    .setup = setup_dirty,
    .body = {write_back, swap_word, store_second},
    .holds = holds_found,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

const struct check write_back_two_check = {
    .name = "write-back-two",
    .summary = "write-back in the background and by a sync of the same page against a write to it",
    .setup = setup_dirty,
    .body = {write_back, swap_word, sync_file},
    .holds = holds_found,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

/* The first write fails. */
static int setup_failing(struct message *why)
{
	int error = setup_dirty(why);

	atomic_store_explicit(&fixture.file.failures, 1, memory_order_relaxed);
	return error;
}

static void sync_and_look(void)
{
	uint64_t word;

	fixture.result[1] = sf_object_sync(fixture.object);
	spin_lock(&fixture.file.lock);
	word = fixture.file.word[0][0];
	spin_unlock(&fixture.file.lock);
	check_that(fixture.result[1] == -EIO || (!fixture.result[1] && word == 5));
}

static bool holds_told(struct message *why)
{
	int told = (fixture.result[1] == -EIO) + (sf_object_sync(fixture.object) == -EIO);

	check_equal(sf_object_sync(fixture.object), 0);
	return fixture_good(why) && fixture_file_good(why) &&
	       fixture_equal("times that the failure was told", (uint64_t)told, 1, why) &&
	       fixture_equal("the first word of the file", fixture.file.word[0][0], 5, why);
}

const struct check write_back_told_check = {
    .name = "write-back-told",
    .summary = "write-back in the background that fails against a sync, which tells so or finds all written",
    .setup = setup_failing,
    .body = {write_back, sync_and_look},
    .holds = holds_told,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

const struct check evict_write_back_check = {
    .name = "evict-write-back",
    .summary = "reclaim of a page that is written back and written to",
    .setup = setup_dirty,
    .body = {write_back, swap_word, evict},
    .holds = holds_found,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

static int setup_both_dirty(struct message *why)
{
	int error = setup_dirty(why);

	if (!error)
		fixture_store(fixture.space, AT + PAGE, 6);
	return error;
}

static void truncate(void)
{
	check_that(!sf_object_resize(fixture.object, PAGE));
}

/* In the page that is cut off, which may be gone. */
static void store_in_second(void)
{
	uint64_t expected = 0;
	int result = sf_compare_swap_64(fixture.space, AT + PAGE + 8, &expected, STORED, NULL);

	check_that(result == 1 || result == -EFAULT);
}

static bool holds_cut(struct message *why)
{
	if (!fixture_good(why) || !fixture_file_good(why))
		return false;
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
	while (sf_write_back(fixture.system, PAGE))
		;
	return fixture_equal("the first word of the file", fixture.file.word[0][0], 5, why) &&
	       fixture_equal("a word that was cut off", fixture.file.word[1][0], 0, why) &&
	       fixture_equal("one that was written meanwhile", fixture.file.word[1][1], 0, why) &&
	       fixture_equal("the file's size", fixture.file.bytes, PAGE, why) && fixture_good(why);
}

const struct check write_back_truncate_check = {
    .name = "write-back-truncate",
    .summary = "write-back in the background against a truncate and a write to the page that is cut off",
    .setup = setup_both_dirty,
    .body = {write_back, truncate, store_in_second},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};
