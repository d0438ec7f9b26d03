/* SPDX-License-Identifier: MIT */
/*
 * The read-write semaphore, in the implementation that the policy's vma_lookup takes for the space's lock:
 * nobody sleeps for ever, and plain fields tell that a writer is alone.
 */
#include "sync/rwsem.h"

#include <stddef.h>

#include "mm/space/vma_lookup.h"
#include "tests/explore/fixture.h"

#define TAKES 2u

static struct rwsem sem;
static struct lock_nodes nodes;

/* Protected by the semaphore. */
static uint64_t counted, twin;

static _Atomic unsigned tries;

static int setup(struct message *why)
{
	int error = lock_nodes_open(&nodes);

	if (error)
		return message_set(why, error, "no memory");
	rwsem_init(&sem, vma_lookup_choices[fixture_policy().vma_lookup]->lock, LOCK_RANK_TEST_OUTER, &nodes);
	counted = twin = 0;
	atomic_init(&tries, 0);
	return 0;
}

static void teardown(void)
{
	lock_nodes_close(&nodes);
}

static bool holds(struct message *why)
{
	return fixture_equal("what was counted", counted, atomic_load(&tries), why) && !sem.first &&
	       !sem.holders && fixture_equal("the semaphore's state", atomic_load(&sem.state), 0, why);
}

static void count(void)
{
	check_equal(counted, twin);
	counted++;
	twin++;
	atomic_fetch_add_explicit(&tries, 1, memory_order_relaxed);
}

static void take_for_writing(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		down_write(&sem);
		count();
		up_write(&sem);
	}
}

static void take_for_reading(void)
{
	for (unsigned i = 0; i < TAKES; i++) {
		down_read(&sem);
		check_equal(counted, twin);
		up_read(&sem);
	}
}

static void try_both(void)
{
	if (down_read_trylock(&sem)) {
		check_equal(counted, twin);
		up_read(&sem);
	}
	if (down_write_trylock(&sem)) {
		count();
		up_write(&sem);
	}
}

static const char *const kinds[] = {"vma_lookup=rwsem_xadd", "vma_lookup=rwsem_spin", NULL};

const struct check rwsem_check = {
    .name = "rwsem",
    .summary = "readers and writers of a read-write semaphore",
    .setup = setup,
    .body = {take_for_writing, take_for_reading, take_for_writing},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
    .variants = kinds,
};

const struct check rwsem_readers_check = {
    .name = "rwsem-readers",
    .summary = "readers that stand together in the queue of a read-write semaphore",
    .setup = setup,
    .body = {take_for_reading, take_for_writing, take_for_reading},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
    .variants = kinds,
};

const struct check rwsem_trylock_check = {
    .name = "rwsem-trylock",
    .summary = "tries of a read-write semaphore against those who sleep for it",
    .setup = setup,
    .body = {take_for_writing, try_both, take_for_reading},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = teardown,
    .variants = kinds,
};
