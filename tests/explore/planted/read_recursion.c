/* SPDX-License-Identifier: MIT */
/*
 * A read-write semaphore taken for reading by who holds it for reading: with a writer in the queue between
 * the two takes nobody goes on. Found by one preemption, where a test on real threads needs luck.
 */
#include <errno.h>
#include <stddef.h>

#include "sync/rwsem.h"
#include "tests/explore/fixture.h"

static struct rwsem sem;
static struct lock_nodes nodes;
static uint64_t value; /* protected by the semaphore */

static int setup(struct message *why)
{
	if (lock_nodes_open(&nodes))
		return message_set(why, -ENOMEM, "no memory");
	rwsem_init(&sem, &rwsem_xadd_ops, LOCK_RANK_TEST_OUTER, &nodes);
	value = 0;
	return 0;
}

static uint64_t read_value(void)
{
	uint64_t seen;

	sem.ops->down_read(&sem); /* planted: taken again */
	seen = value;
	sem.ops->up_read(&sem);
	return seen;
}

static void read_twice(void)
{
	sem.ops->down_read(&sem);
	check_equal(read_value(), value);
	sem.ops->up_read(&sem);
}

static void write_value(void)
{
	sem.ops->down_write(&sem);
	value = 1;
	sem.ops->up_write(&sem);
}

static bool holds(struct message *why)
{
	return fixture_equal("the value", value, 1, why);
}

static void teardown(void)
{
	lock_nodes_close(&nodes);
}

const struct check planted_read_recursion_check = {
    .name = "planted-read-recursion",
    .summary = "a semaphore taken for reading twice by one CPU; right: rwsem",
    .setup = setup,
    .body = {read_twice, write_value},
    .holds = holds,
    .teardown = teardown,
    .planted_kind = "deadlock",
    .planted_mark = "planted: taken again",
};
