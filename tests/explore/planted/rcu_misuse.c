/* SPDX-License-Identifier: MIT */
/*
 * Two ways to use RCU wrongly that no processor of x86 shows: a pointer published without release order, and
 * one followed after the read section.
 */
#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "port/memory.h"
#include "sync/rcu.h"
#include "tests/explore/fixture.h"

struct object {
	uint64_t value;
};

static struct object *_Atomic published;

static struct object *make(uint64_t value)
{
	struct object *object = port_memory_alloc(sizeof(*object), PORT_NODE_FIRST_TOUCH, "struct object");

	check_that(object);
	object->value = value;
	return object;
}

static int setup(struct message *why)
{
	(void)why;
	atomic_init(&published, make(1));
	return 0;
}

static void teardown(void)
{
	port_memory_free(atomic_load(&published), sizeof(struct object));
}

static bool holds(struct message *why)
{
	return fixture_equal("the value", atomic_load(&published)->value, 2, why);
}

static void publish_unordered(void)
{
	struct object *fresh = make(2), *old = rcu_dereference_locked(&published);

	atomic_store_explicit(&published, fresh, memory_order_relaxed); /* planted: published unordered */
	port_rcu_synchronize();
	port_memory_free(old, sizeof(*old));
}

static void read_inside(void)
{
	uint64_t value;

	port_rcu_read_lock();
	value = rcu_dereference(&published)->value;
	port_rcu_read_unlock();
	check_that(value == 1 || value == 2);
}

const struct check planted_publish_check = {
    .name = "planted-publish",
    .summary = "a pointer published without release order; right: rcu-synchronize",
    .setup = setup,
    .body = {publish_unordered, read_inside},
    .holds = holds,
    .teardown = teardown,
    .planted_kind = "data race",
    .planted_mark = "planted: published unordered",
};

static void publish(void)
{
	struct object *fresh = make(2), *old = rcu_dereference_locked(&published);

	rcu_assign_pointer(&published, fresh);
	port_rcu_synchronize();
	port_memory_free(old, sizeof(*old));
}

static void read_late(void)
{
	const struct object *object;
	uint64_t value;

	port_rcu_read_lock();
	object = rcu_dereference(&published);
	port_rcu_read_unlock();
	value = object->value; /* planted: read outside */
	check_that(value == 1 || value == 2);
}

const struct check planted_read_outside_check = {
    .name = "planted-read-outside",
    .summary = "an object read after the read section that keeps it; right: rcu-synchronize",
    .setup = setup,
    .body = {publish, read_late},
    .holds = holds,
    .teardown = teardown,
    .planted_kind = "use after free",
    .planted_mark = "planted: read outside",
};
