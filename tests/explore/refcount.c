/* SPDX-License-Identifier: MIT */
/*
 * sync/refcount.h: one of those who put a reference is told that it was the last, and sees what all others
 * did before; who takes one unless there is none gets an object that is there, or nothing.
 */
#include "sync/refcount.h"

#include <errno.h>
#include <stddef.h>

#include "port/memory.h"
#include "tests/explore/fixture.h"

struct object {
	struct refcount references;
	uint64_t work[2]; /* each holder's own */
	uint64_t sum;     /* made by who puts the last reference */
};

static struct object *object;
static _Atomic unsigned ended;

static int setup(struct message *why)
{
	object = port_memory_alloc(sizeof(*object), PORT_NODE_FIRST_TOUCH, "struct object");
	if (!object)
		return message_set(why, -ENOMEM, "no memory");
	refcount_init(&object->references, 2);
	atomic_init(&ended, 0);
	return 0;
}

static void put(void)
{
	if (!refcount_dec_and_test(&object->references))
		return;
	object->sum = object->work[0] + object->work[1];
	atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

static void work_and_put(void)
{
	object->work[0] = 1;
	put();
}

static void take_work_and_put(void)
{
	refcount_inc(&object->references);
	object->work[1] = 2;
	put();
	put();
}

static bool holds(struct message *why)
{
	return fixture_equal("who put the last reference", atomic_load(&ended), 1, why) &&
	       fixture_equal("what was seen of the others' work", object->sum, 3, why);
}

static void teardown(void)
{
	port_memory_free(object, sizeof(*object));
}

const struct check refcount_check = {
    .name = "refcount",
    .summary = "puts of the last references against each other",
    .setup = setup,
    .body = {work_and_put, take_work_and_put},
    .holds = holds,
    .teardown = teardown,
};

static void take_unless_none(void)
{
	if (!refcount_inc_not_zero(&object->references))
		return;
	check_that(!atomic_load_explicit(&ended, memory_order_relaxed));
	put();
}

static void put_twice(void)
{
	object->work[0] = 1;
	put();
	object->work[1] = 2;
	put();
}

const struct check refcount_not_zero_check = {
    .name = "refcount-not-zero",
    .summary = "a take unless there is none against the put of the last",
    .setup = setup,
    .body = {put_twice, take_unless_none},
    .holds = holds,
    .teardown = teardown,
};
