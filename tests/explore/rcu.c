/* SPDX-License-Identifier: MIT */
/*
 * sync/rcu.h and port/rcu.h: a reader finds the old object or the new one, whole, and neither is freed while
 * it looks. The writer gives the old one back in each of the two ways.
 */
#include "sync/rcu.h"

#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "port/memory.h"
#include "tests/explore/fixture.h"

struct object {
	uint64_t first, second;
	struct port_rcu_head rcu;
};

static struct object *_Atomic published;
static _Atomic unsigned freed;

static struct object *make(uint64_t value)
{
	struct object *object = port_memory_alloc(sizeof(*object), PORT_NODE_FIRST_TOUCH, "struct object");

	if (object)
		object->first = object->second = value;
	return object;
}

static int setup(struct message *why)
{
	struct object *object = make(1);

	if (!object)
		return message_set(why, -ENOMEM, "no memory");
	atomic_init(&published, object);
	atomic_init(&freed, 0);
	return 0;
}

static void free_object(struct object *object)
{
	atomic_fetch_add_explicit(&freed, 1, memory_order_relaxed);
	port_memory_free(object, sizeof(*object));
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	free_object(container_of(head, struct object, rcu));
}

static struct object *replace(uint64_t value)
{
	struct object *old = rcu_dereference_locked(&published), *fresh = make(value);

	check_that(fresh);
	rcu_assign_pointer(&published, fresh);
	return old;
}

static void replace_and_wait(void)
{
	struct object *old = replace(2);

	port_rcu_synchronize();
	free_object(old);
}

static void replace_and_call(void)
{
	port_rcu_call(&replace(2)->rcu, free_after_grace_period);
	port_rcu_poll();
	port_rcu_call(&replace(3)->rcu, free_after_grace_period);
	port_rcu_barrier();
}

static void read_twice(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct object *object;

		port_rcu_read_lock();
		object = rcu_dereference(&published);
		check_equal(object->first, object->second);
		port_rcu_read_unlock();
	}
}

static bool holds(struct message *why)
{
	uint64_t last = atomic_load(&published)->first;

	return fixture_equal("objects freed", atomic_load(&freed), last - 1, why);
}

static void teardown(void)
{
	port_memory_free(atomic_load(&published), sizeof(struct object));
}

const struct check rcu_synchronize_check = {
    .name = "rcu-synchronize",
    .summary = "a reader against who publishes another object, waits and frees the old one",
    .setup = setup,
    .body = {replace_and_wait, read_twice},
    .holds = holds,
    .teardown = teardown,
};

const struct check rcu_call_check = {
    .name = "rcu-call",
    .summary = "readers against who publishes other objects and has the old ones freed later",
    .setup = setup,
    .body = {replace_and_call, read_twice, read_twice},
    .holds = holds,
    .teardown = teardown,
};
