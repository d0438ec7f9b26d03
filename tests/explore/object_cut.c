/* SPDX-License-Identifier: MIT */
/*
 * Faults and forks against those who take pages of an object away, each as short as can be: when the cut
 * returns no space maps a page that has left, and none will. The object has two pages; page 1 is cut off.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/object/cache.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

#define CUT    (AT + PAGE)
#define STORED UINT64_C(0x10)

static int open_and_map(int flags, struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_shmem(2, 0);
	fixture_map_object(AT, 2, RW, flags);
	check_that(!sf_touch(fixture.space, AT, SF_WRITE, NULL));
	return 0;
}

static int setup_absent(struct message *why)
{
	return open_and_map(SF_MAP_SHARED, why);
}

static void store_page(void)
{
	const uint64_t value = STORED;

	check_that(sf_object_write(fixture.object, PAGE, &value, sizeof(value)) == sizeof(value));
}

static int setup_known(struct message *why)
{
	int error = open_and_map(SF_MAP_SHARED, why);

	if (!error)
		store_page();
	return error;
}

static void touch(void)
{
	fixture.result[0] = sf_touch(fixture.space, CUT, SF_WRITE, NULL);
	check_that(!fixture.result[0] || fixture.result[0] == -EFAULT);
}

static void truncate(void)
{
	check_that(!sf_object_resize(fixture.object, PAGE));
	check_that(!system_pte(fixture.space, CUT));
}

static bool holds_cut(struct message *why)
{
	return fixture_good(why) && fixture_equal("the entry", system_pte(fixture.space, CUT), 0, why);
}

const struct check fault_truncate_check = {
    .name = "fault-truncate",
    .summary = "a fault that makes a page of an object against a truncate",
    .setup = setup_absent,
    .body = {touch, truncate},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

const struct check fault_truncate_known_check = {
    .name = "fault-truncate-known",
    .summary = "a fault that finds a page of an object against a truncate",
    .setup = setup_known,
    .body = {touch, truncate},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

static void read_word(void)
{
	uint64_t value = 0;

	check_that(sf_read(fixture.space, CUT, &value, sizeof(value), NULL) == sizeof(value));
	check_that(value == STORED || value == 0);
}

/* The hole is zeroes at once, and stays so. */
static void punch(void)
{
	check_that(!sf_object_punch(fixture.object, PAGE, PAGE));
	check_equal(fixture_load(fixture.space, CUT), 0);
}

static bool holds_hole(struct message *why)
{
	return fixture_good(why) && fixture_equal("the word", fixture_load(fixture.space, CUT), 0, why);
}

const struct check fault_punch_check = {
    .name = "fault-punch",
    .summary = "a fault that finds a page of an object against a hole there",
    .setup = setup_known,
    .body = {read_word, punch},
    .holds = holds_hole,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};

static int setup_copied(struct message *why)
{
	int error = open_and_map(SF_MAP_PRIVATE, why);

	if (!error)
		fixture_store(fixture.space, CUT, STORED);
	return error;
}

static void fork_space(void)
{
	fixture_fork();
}

static bool holds_cut_in_both(struct message *why)
{
	return holds_cut(why) && fixture_equal("the child's entry", system_pte(fixture.child, CUT), 0, why);
}

const struct check fork_truncate_check = {
    .name = "fork-truncate",
    .summary = "a fork that copies a private page of an object against a truncate that takes it away",
    .setup = setup_copied,
    .body = {fork_space, truncate},
    .holds = holds_cut_in_both,
    .teardown = fixture_close,
    .variants = variants_lock,
};

static void fetch(void)
{
	uint64_t value = STORED;
	int64_t bytes = sf_object_read(fixture.object, PAGE, &value, sizeof(value));

	check_that(!bytes || bytes == sizeof(value));
	check_equal(value, STORED);
}

/* The frame is somebody else's as soon as it may be. */
static void truncate_and_reuse(void)
{
	truncate();
	port_rcu_poll();
	fixture_map(AWAY, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AWAY, 1);
}

const struct check object_reuse_check = {
    .name = "object-reuse",
    .summary = "a read by offset, which finds a page, against a truncate and the next use of its frame",
    .setup = setup_known,
    .body = {fetch, truncate_and_reuse},
    .holds = holds_cut,
    .teardown = fixture_close,
    .variants = variants_object,
};

/* A page at the second level of the index. */
#define FAR 64u

static int setup_far(struct message *why)
{
	const uint64_t value = STORED;
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_shmem(FAR + 1, 0);
	fixture_map_object(AT, FAR + 1, RW, SF_MAP_SHARED);
	check_that(sf_object_write(fixture.object, FAR * PAGE, &value, sizeof(value)) == sizeof(value));
	return 0;
}

static void touch_far(void)
{
	int error = sf_touch(fixture.space, AT + FAR * PAGE, SF_WRITE, NULL);

	check_that(!error || error == -EFAULT);
}

/* Takes nodes of the index away. */
static void truncate_all(void)
{
	check_that(!sf_object_resize(fixture.object, 0));
}

static void extend_again(void)
{
	check_that(!sf_object_resize(fixture.object, (FAR + 1) * PAGE));
}

static bool holds_far(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("the first word", fixture_load(fixture.space, AT + FAR * PAGE), 0, why);
}

static void truncate_and_extend(void)
{
	truncate_all();
	extend_again();
}

const struct check index_prune_check = {
    .name = "index-prune",
    .summary = "faults in the page index of an object against a truncate that prunes it and a growth",
    .setup = setup_far,
    .body = {touch_far, truncate_and_extend, touch_far},
    .holds = holds_far,
    .teardown = fixture_close,
    .variants = variants_object,
};

static int setup_empty(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_shmem(FAR + 1, 0);
	fixture_map_object(AT, FAR + 1, RW, SF_MAP_SHARED);
	return 0;
}

static void store_near(void)
{
	fixture_store(fixture.space, AT, 1);
}

static void store_far(void)
{
	fixture_store(fixture.space, AT + FAR * PAGE, 2);
}

static bool holds_grown(struct message *why)
{
	return fixture_good(why) && fixture_equal("the near word", fixture_load(fixture.space, AT), 1, why) &&
	       fixture_equal("the far word", fixture_load(fixture.space, AT + FAR * PAGE), 2, why);
}

const struct check index_grow_check = {
    .name = "index-grow",
    .summary = "faults that make an empty page index grow, each to another height",
    .setup = setup_empty,
    .body = {store_near, store_far},
    .holds = holds_grown,
    .teardown = fixture_close,
    .variants = variants_object,
};

/* Holes leave nodes without pages. */
static int setup_nodes(struct message *why)
{
	int error = setup_far(why);

	if (!error)
		check_that(!sf_object_punch(fixture.object, 0, (FAR + 1) * PAGE));
	return error;
}

static void prune(void)
{
	page_index_prune(&fixture.object->index, 0);
	port_rcu_poll();
}

static void walk(void)
{
	uint64_t index = 0;

	port_rcu_read_lock();
	check_that(!page_index_find(&fixture.object->index, FAR));
	check_that(!page_index_next(&fixture.object->index, &index, FAR + 1));
	port_rcu_read_unlock();
}

static bool holds_pruned(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("the root", atomic_load(&fixture.object->index.root), 0, why);
}

const struct check index_walk_check = {
    .name = "index-walk",
    .summary = "a walk of a page index while its nodes are taken away",
    .setup = setup_nodes,
    .body = {prune, walk},
    .holds = holds_pruned,
    .teardown = fixture_close,
};
