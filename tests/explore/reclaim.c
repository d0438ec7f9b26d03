/* SPDX-License-Identifier: MIT */
/*
 * Reclaim of all that there is, while another CPU uses the memory, takes it away, reclaims too, or ends the
 * group: what was written is there afterwards, every page is on the list that it should be on, and what every
 * group counts is right.
 */
#include <errno.h>
#include <stddef.h>

#include "tests/explore/operations.h"

#define PAGES  3u
#define STORED UINT64_C(0x10)
#define WORD   UINT64_C(0x20) /* what the other CPU writes */

static struct {
	struct file file;
	struct sf_group *group; /* NULL when it has been destroyed */
} stage;

/* --- The scenes ----------------------------------------------------------------------------------------- */

/* Three pages of private memory in a group below the root, written; and swap. */
static int open_scene(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	file_open(&stage.file, FILE_PAGES);
	check_that(!sf_swap_add(fixture.system, &stage.file.backing, 0));
	check_that(!sf_group_create(sf_group_root(fixture.system), &stage.group));
	sf_space_set_group(fixture.space, stage.group);
	fixture_map(AT, PAGES + 2, RW, SF_MAP_PRIVATE);
	for (unsigned i = 0; i < PAGES; i++)
		fixture_store(fixture.space, AT + i * PAGE, STORED + i);
	fixture.result[0] = fixture.result[1] = 0;
	return 0;
}

static int open_forked(struct message *why)
{
	int error = open_scene(why);

	if (!error)
		fixture_fork();
	return error;
}

/* Nobody needs the pages any more. */
static int open_lazy(struct message *why)
{
	int error = open_scene(why);

	if (!error)
		check_that(!sf_advise(fixture.space, AT, PAGES * PAGE, SF_ADVICE_FREE));
	return error;
}

/* There is no room in the group from here on. */
static void fill_group(void)
{
	struct sf_group_statistics statistics;

	/* The pages are on the lists, where others find them. */
	system_cpu_idle(fixture.system);
	/* Empties the stocks. */
	check_that(!sf_group_set_limit(stage.group, SF_GROUP_UNLIMITED));
	sf_group_statistics(stage.group, &statistics);
	check_that(!sf_group_set_limit(stage.group, statistics.usage));
}

static int open_full(struct message *why)
{
	int error = open_scene(why);

	if (!error)
		fill_group();
	return error;
}

/* The same pages are shared memory's. */
static int open_shared(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	file_open(&stage.file, FILE_PAGES);
	check_that(!sf_swap_add(fixture.system, &stage.file.backing, 0));
	stage.group = NULL;
	fixture_shmem(PAGES, 0);
	fixture_map_object(AT, PAGES, RW, SF_MAP_SHARED);
	for (unsigned i = 0; i < PAGES; i++)
		fixture_store(fixture.space, AT + i * PAGE, STORED + i);
	return 0;
}

/* Or a file's: two that were read, and one that is dirty. There is no swap. */
static int open_file(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	stage.group = NULL;
	fixture_file(PAGES);
	fixture_map_object(AT, PAGES, RW, SF_MAP_SHARED);
	for (unsigned i = 0; i < PAGES; i++)
		check_equal(fixture_load(fixture.space, AT + i * PAGE), i + 1);
	fixture_store(fixture.space, AT, STORED);
	return 0;
}

/* The group is full of a file's pages, all dirty. There is no swap. */
static int open_full_file(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	check_that(!sf_group_create(sf_group_root(fixture.system), &stage.group));
	sf_space_set_group(fixture.space, stage.group);
	fixture_file(PAGES);
	fixture_map_object(AT, PAGES, RW, SF_MAP_SHARED);
	fixture_map(AT + PAGES * PAGE, 2, RW, SF_MAP_PRIVATE);
	for (unsigned i = 0; i < PAGES; i++)
		fixture_store(fixture.space, AT + i * PAGE, STORED + i);
	fixture.result[0] = fixture.result[1] = 0;
	fill_group();
	return 0;
}

static void close_scene(void)
{
	if (fixture.made[1])
		sf_space_destroy(fixture.made[1]);
	if (stage.group) {
		sf_space_set_group(fixture.space, sf_group_root(fixture.system));
		if (fixture.child)
			sf_space_set_group(fixture.child, sf_group_root(fixture.system));
		check_that(!sf_group_destroy(stage.group));
	}
	fixture_close();
}

/* --- What the CPUs do ----------------------------------------------------------------------------------- */

static void reclaim(void)
{
	sf_group_reclaim(sf_group_root(fixture.system), 2 * PAGE);
}

static void write_word(void)
{
	fixture_store(fixture.space, TARGET + 8, WORD);
	check_equal(fixture_load(fixture.space, TARGET), STORED + 1);
	check_equal(fixture_load(fixture.space, TARGET + 8), WORD);
}

static void write_lazy(void)
{
	fixture_store(fixture.space, TARGET + 8, WORD);
	check_equal(fixture_load(fixture.space, TARGET + 8), WORD);
}

static void free_lazily(void)
{
	check_that(!sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_FREE));
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, TARGET, PAGE));
}

static void fork_it(void)
{
	check_that(!sf_space_fork(fixture.space, &fixture.made[1]));
}

static void end_child(void)
{
	struct sf_space *child = fixture.child;

	fixture.child = NULL;
	sf_space_destroy(child);
}

static void pin_and_write(void)
{
	struct sf_pin pin;
	uint64_t *word = sf_pin(fixture.space, TARGET, SF_WRITE, &pin, NULL);

	check_that(word && *word == STORED + 1);
	word[1] = WORD;
	sf_unpin(fixture.system, &pin);
}

static void lock_it(void)
{
	check_that(!sf_lock(fixture.space, TARGET, PAGE));
}

/* The group's pages become the root's. */
static void end_group(void)
{
	sf_space_set_group(fixture.space, sf_group_root(fixture.system));
	check_that(!sf_group_destroy(stage.group));
	stage.group = NULL;
}

static void lower_limit(void)
{
	int error = sf_group_set_limit(stage.group, PAGE);

	check_that(!error || error == -EBUSY);
}

/* A page that was never touched: somebody has to give one up. */
static void write_new(unsigned number)
{
	fixture.result[number] = sf_touch(fixture.space, AT + (PAGES + number) * PAGE, SF_WRITE, NULL);
}

static void write_first_new(void)
{
	write_new(0);
}

static void write_second_new(void)
{
	write_new(1);
}

static void discard_all(void)
{
	check_that(!sf_advise(fixture.space, AT, PAGES * PAGE, SF_ADVICE_DONTNEED));
}

/* In the background until the other CPU has taken frames and stops it: whoever was called wakes. */
static void background(void)
{
	sf_reclaim_background(fixture.system);
}

static void take_and_stop(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		fixture_store(fixture.space, AT + i * PAGE + 8, WORD);
	sf_reclaim_stop(fixture.system);
}

/* --- What must be there at the end ---------------------------------------------------------------------- */

static bool has(struct sf_space *space, unsigned page, uint64_t first, uint64_t second, struct message *why)
{
	uint64_t at = AT + page * PAGE;

	return fixture_equal("the first word", fixture_load(space, at), first, why) &&
	       fixture_equal("the second word", fixture_load(space, at + 8), second, why);
}

/* All three pages of a space, of which the second has `word` as well. */
static bool has_all(struct sf_space *space, uint64_t word, struct message *why)
{
	return has(space, 0, STORED, 0, why) && has(space, 1, STORED + 1, word, why) &&
	       has(space, 2, STORED + 2, 0, why);
}

static bool unchanged(struct message *why)
{
	return fixture_good(why) && has_all(fixture.space, 0, why) && fixture_good(why);
}

static bool written(struct message *why)
{
	return fixture_good(why) && has_all(fixture.space, WORD, why) &&
	       (!fixture.child || has_all(fixture.child, 0, why)) && fixture_good(why);
}

/* What a page that was free to go has in its first word. */
static bool is_lazy(unsigned page, struct message *why)
{
	uint64_t found = fixture_load(fixture.space, AT + page * PAGE);

	return !found || fixture_equal("the first word", found, STORED + page, why);
}

/* A write is kept; what stands beside it is what was there, or nothing. The rest takes no slot. */
static bool lazily_written(struct message *why)
{
	struct sf_swap_statistics swap;

	sf_swap_statistics(fixture.system, &swap);
	return fixture_good(why) && (swap.used <= 1 || fixture_equal("slots", swap.used, 1, why)) &&
	       is_lazy(0, why) && is_lazy(1, why) && is_lazy(2, why) &&
	       fixture_equal("the second word", fixture_load(fixture.space, TARGET + 8), WORD, why) &&
	       fixture_good(why);
}

/* Of a page that is free to go since a moment ago. */
static bool lazily_freed(struct message *why)
{
	return fixture_good(why) && has(fixture.space, 0, STORED, 0, why) && is_lazy(1, why) &&
	       has(fixture.space, 2, STORED + 2, 0, why) && fixture_good(why);
}

static bool all_written(struct message *why)
{
	for (unsigned page = 0; page < PAGES; page++)
		if (!has(fixture.space, page, STORED + page, WORD, why))
			return false;
	return fixture_good(why);
}

static bool forked(struct message *why)
{
	return unchanged(why) && has_all(fixture.made[1], 0, why);
}

static bool gone(struct message *why)
{
	return fixture_good(why) && fixture_equal("the entry", system_pte(fixture.space, TARGET), 0, why) &&
	       has(fixture.space, 0, STORED, 0, why) && has(fixture.space, 2, STORED + 2, 0, why);
}

static bool found_room(unsigned number, struct message *why)
{
	return fixture_equal("what a touch returned", (uint64_t)(int64_t)fixture.result[number], 0, why);
}

/* Whatever the other has isolated meanwhile: there is enough for both. */
static bool full(struct message *why)
{
	if (!found_room(0, why) || !found_room(1, why))
		return false;
	check_that(!sf_group_set_limit(stage.group, SF_GROUP_UNLIMITED));
	return unchanged(why);
}

/* Whatever the other holds of what it has discarded. */
static bool discarded(struct message *why)
{
	check_that(!sf_group_set_limit(stage.group, SF_GROUP_UNLIMITED));
	return found_room(0, why) && fixture_good(why) && has(fixture.space, 0, 0, 0, why) &&
	       has(fixture.space, 2, 0, 0, why) && fixture_good(why);
}

static bool file_written(struct message *why)
{
	return fixture_good(why) && has(fixture.space, 0, STORED, 2, why) &&
	       has(fixture.space, 1, 2, 0, why) && has(fixture.space, 2, 3, 0, why) && fixture_good(why);
}

static bool file_kept(struct message *why)
{
	check_that(!sf_group_set_limit(stage.group, SF_GROUP_UNLIMITED));
	return found_room(0, why) && fixture_good(why) && has_all(fixture.space, 0, why) && fixture_good(why);
}

static void sync_file(void)
{
	check_that(!sf_object_sync(fixture.object));
}

static void write_file(void)
{
	fixture_store(fixture.space, AT + 8, 2);
}

const struct check reclaim_write_check = {
    .name = "reclaim-write",
    .summary = "pages are reclaimed while one is written to",
    .setup = open_scene,
    .body = {reclaim, write_word},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_lazy_write_check = {
    .name = "reclaim-lazy-write",
    .summary = "pages that are free to go are reclaimed while one is written to",
    .setup = open_lazy,
    .body = {reclaim, write_lazy},
    .holds = lazily_written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_lazy_check = {
    .name = "reclaim-lazy",
    .summary = "pages are reclaimed while one becomes free to go",
    .setup = open_scene,
    .body = {reclaim, free_lazily},
    .holds = lazily_freed,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_cow_check = {
    .name = "reclaim-cow",
    .summary = "pages of two spaces are reclaimed while one writes",
    .setup = open_forked,
    .body = {reclaim, write_word},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_pin_check = {
    .name = "reclaim-pin",
    .summary = "pages are reclaimed while one is pinned and written to",
    .setup = open_scene,
    .body = {reclaim, pin_and_write},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_unmap_check = {
    .name = "reclaim-unmap",
    .summary = "pages are reclaimed while one is unmapped",
    .setup = open_scene,
    .body = {reclaim, unmap},
    .holds = gone,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_fork_check = {
    .name = "reclaim-fork",
    .summary = "pages are reclaimed while their space forks",
    .setup = open_scene,
    .body = {reclaim, fork_it},
    .holds = forked,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_end_check = {
    .name = "reclaim-end",
    .summary = "pages of two spaces are reclaimed while one ends",
    .setup = open_forked,
    .body = {reclaim, end_child},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_lock_check = {
    .name = "reclaim-lock",
    .summary = "pages are reclaimed while one is locked in memory",
    .setup = open_scene,
    .body = {reclaim, lock_it},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_twice_check = {
    .name = "reclaim-twice",
    .summary = "two CPUs reclaim",
    .setup = open_scene,
    .body = {reclaim, reclaim},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_group_check = {
    .name = "reclaim-group",
    .summary = "pages are reclaimed while their group ends",
    .setup = open_scene,
    .body = {reclaim, end_group},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_limit_check = {
    .name = "reclaim-limit",
    .summary = "pages are reclaimed while their group's limit is lowered",
    .setup = open_scene,
    .body = {reclaim, lower_limit},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_shared_check = {
    .name = "reclaim-shared",
    .summary = "shared memory is reclaimed while it is written to",
    .setup = open_shared,
    .body = {reclaim, write_word},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_file_check = {
    .name = "reclaim-file",
    .summary = "a file's pages are reclaimed while one is written to",
    .setup = open_file,
    .body = {reclaim, write_file},
    .holds = file_written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_full_check = {
    .name = "reclaim-full",
    .summary = "two CPUs reclaim in a group that is full, each for a page",
    .setup = open_full,
    .body = {write_first_new, write_second_new},
    .holds = full,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_full_discard_check = {
    .name = "reclaim-full-discard",
    .summary = "a CPU reclaims in a group that is full while another discards all pages there",
    .setup = open_full,
    .body = {write_first_new, discard_all},
    .holds = discarded,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_full_sync_check = {
    .name = "reclaim-full-sync",
    .summary = "a CPU reclaims in a group that is full of a file's pages while another writes them back",
    .setup = open_full_file,
    .body = {write_first_new, sync_file},
    .holds = file_kept,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check reclaim_background_check = {
    .name = "reclaim-background",
    .summary = "the background begins, is called, and is stopped",
    .setup = open_scene,
    .body = {background, take_and_stop},
    .holds = all_written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};
