/* SPDX-License-Identifier: MIT */
/*
 * An object that may have one page, mapped by two spaces: faults that want it, or two.
 */
#include <errno.h>
#include <stddef.h>

#include "tests/explore/fixture.h"

static const char *const variants_limited[] = {
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless",
    "shmem_alloc=before shmem_account=per_cpu page_index=tree_lock",
    "shmem_alloc=before shmem_account=inode_lock page_index=lockless",
    "shmem_alloc=inside shmem_account=inode_lock page_index=lockless",
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock",
    NULL,
};

/* `inside` counts before it allocates, and so lets nobody wait for the page that it is about to insert. */
static const char *const variants_before[] = {
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless",
    "shmem_alloc=before shmem_account=per_cpu page_index=tree_lock",
    "shmem_alloc=before shmem_account=inode_lock page_index=lockless",
    "shmem_alloc=before shmem_account=inode_lock page_index=tree_lock",
    NULL,
};

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_shmem(2, 1);
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	fixture_fork();
	return 0;
}

static void touch_first(void)
{
	fixture.result[0] = sf_touch(fixture.space, AT, SF_WRITE, NULL);
}

static void touch_same(void)
{
	fixture.result[1] = sf_touch(fixture.child, AT, SF_WRITE, NULL);
}

static void touch_other(void)
{
	fixture.result[1] = sf_touch(fixture.child, AT + PAGE, SF_WRITE, NULL);
}

static bool holds_both(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("what the first fault returned", (uint64_t)(int64_t)fixture.result[0], 0, why) &&
	       fixture_equal("what the second fault returned", (uint64_t)(int64_t)fixture.result[1], 0, why);
}

const struct check limit_same_check = {
    .name = "limit-same",
    .summary = "two faults on the only page that an object may have",
    .setup = setup,
    .body = {touch_first, touch_same},
    .holds = holds_both,
    .teardown = fixture_close,
    .variants = variants_before,
};

static bool holds_one(struct message *why)
{
	int failed = (fixture.result[0] == -EFAULT) + (fixture.result[1] == -EFAULT);

	return fixture_good(why) && fixture_equal("faults beyond the limit", (uint64_t)failed, 1, why);
}

const struct check limit_other_check = {
    .name = "limit-other",
    .summary = "faults on two pages of an object that may have one",
    .setup = setup,
    .body = {touch_first, touch_other},
    .holds = holds_one,
    .teardown = fixture_close,
    .variants = variants_limited,
};

static int setup_full(struct message *why)
{
	int error = setup(why);

	if (!error)
		touch_first();
	return error;
}

static void punch(void)
{
	check_that(!sf_object_punch(fixture.object, 0, PAGE));
}

/* What the hole gave back can be had when it is there. */
static bool holds_after_punch(struct message *why)
{
	if (!fixture_good(why) || (fixture.result[1] && fixture.result[1] != -EFAULT))
		return false;
	touch_other();
	return fixture_equal("what a fault returned then", (uint64_t)(int64_t)fixture.result[1], 0, why) &&
	       fixture_good(why);
}

const struct check limit_punch_check = {
    .name = "limit-punch",
    .summary = "a fault at an object's limit against a hole that makes room for it",
    .setup = setup_full,
    .body = {punch, touch_other},
    .holds = holds_after_punch,
    .teardown = fixture_close,
    .variants = variants_limited,
};
