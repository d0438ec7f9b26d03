/* SPDX-License-Identifier: MIT */
/*
 * The spinning locks of sync/: each holder finds what the one before left, which plain fields tell.
 */
#include <stddef.h>

#include "sync/mcs_lock.h"
#include "sync/rwlock.h"
#include "sync/spinlock.h"
#include "tests/explore/fixture.h"

#define TAKES 2u

static struct spinlock spinlock;
static struct mcs_lock mcs;
static struct rwlock rwlock;
static struct lock_nodes nodes;

/* Protected by the lock of the check. */
static uint64_t counted, twin;

static _Atomic unsigned missed; /* by trylocks */

static int setup(struct message *why)
{
	int error = lock_nodes_open(&nodes);

	if (error)
		return message_set(why, error, "no memory");
	spin_lock_init(&spinlock, LOCK_RANK_TEST_OUTER);
	mcs_lock_init(&mcs, LOCK_RANK_TEST_OUTER, &nodes);
	rwlock_init(&rwlock, LOCK_RANK_TEST_OUTER);
	counted = twin = 0;
	atomic_init(&missed, 0);
	return 0;
}

static void teardown(void)
{
	lock_nodes_close(&nodes);
}

static bool holds(struct message *why)
{
	uint64_t tries = check_cpus() * TAKES;

	return fixture_equal("what was counted", counted + atomic_load(&missed), tries, why);
}

static void miss(void)
{
	atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
}

static void count(void)
{
	check_equal(counted, twin);
	counted++;
	twin++;
}

static void take_spinlock(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		spin_lock(&spinlock);
		count();
		spin_unlock(&spinlock);
	}
}

static void try_spinlock(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		if (!spin_trylock(&spinlock)) {
			miss();
			continue;
		}
		count();
		spin_unlock(&spinlock);
	}
}

const struct check spinlock_check = {
    .name = "spinlock",
    .summary = "takes and tries of a ticket lock",
    .setup = setup,
    .body = {take_spinlock, take_spinlock, try_spinlock},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
};

static void take_mcs(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		mcs_lock(&mcs);
		count();
		mcs_unlock(&mcs);
	}
}

static void try_mcs(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		if (!mcs_trylock(&mcs)) {
			miss();
			continue;
		}
		count();
		mcs_unlock(&mcs);
	}
}

const struct check mcs_lock_check = {
    .name = "mcs-lock",
    .summary = "takes and tries of a queued lock",
    .setup = setup,
    .body = {take_mcs, take_mcs, try_mcs},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
};

static void take_for_writing(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		write_lock(&rwlock);
		count();
		write_unlock(&rwlock);
	}
}

/* Who reads counts as one who has missed. */
static void take_for_reading(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		read_lock(&rwlock);
		check_equal(counted, twin);
		read_unlock(&rwlock);
		miss();
	}
}

static void try_for_writing(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		if (!write_trylock(&rwlock)) {
			miss();
			continue;
		}
		count();
		write_unlock(&rwlock);
	}
}

static void try_for_reading(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		miss();
		if (!read_trylock(&rwlock))
			continue;
		check_equal(counted, twin);
		read_unlock(&rwlock);
	}
}

const struct check rwlock_check = {
    .name = "rwlock",
    .summary = "readers and writers of a spinning reader/writer lock",
    .setup = setup,
    .body = {take_for_writing, take_for_reading, take_for_writing},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
};

const struct check rwlock_trylock_check = {
    .name = "rwlock-trylock",
    .summary = "tries of a spinning reader/writer lock against who waits for it",
    .setup = setup,
    .body = {take_for_writing, try_for_reading, try_for_writing},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
};
