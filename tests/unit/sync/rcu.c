/* SPDX-License-Identifier: MIT */
/*
 * RCU: what a reader has found stays whole until it leaves its section.
 */
#include "sync/rcu.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/random.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "sync/spinlock.h"
#include "tests/common/on_cpus.h"

#define CPUS     5u
#define WRITERS  2u
#define REPLACED 400u
#define WHOLE    UINT64_C(0x600d600d600d600d)

struct object {
	struct port_rcu_head rcu;
	uint64_t number;
	uint64_t check; /* number ^ WHOLE; plain, so that ThreadSanitizer sees a free that comes too early */
};

static struct object *_Atomic current_object;
static struct spinlock writers;
static _Atomic unsigned writers_done;
static _Atomic uint64_t made, freed;
static uint64_t seed;

static struct object *object_make(uint64_t number)
{
	struct object *object = malloc(sizeof(*object));

	invariant(object);
	object->number = number;
	object->check = number ^ WHOLE;
	atomic_fetch_add(&made, 1);
	return object;
}

static void object_free(struct port_rcu_head *head)
{
	struct object *object = container_of(head, struct object, rcu);

	invariant(object->check == (object->number ^ WHOLE));
	object->check = 0;
	free(object);
	atomic_fetch_add(&freed, 1);
}

/* Replaces the object; the old one goes by a callback or by waiting here. */
static void replace_objects(unsigned cpu)
{
	struct random random;

	random_seed(&random, seed + cpu);
	for (unsigned i = 0; i < REPLACED; i++) {
		struct object *old, *new = object_make(random_next(&random));

		spin_lock(&writers);
		old = rcu_dereference_locked(&current_object);
		rcu_assign_pointer(&current_object, new);
		spin_unlock(&writers);
		if (random_below(&random, 8)) {
			port_rcu_call(&old->rcu, object_free);
		} else {
			port_rcu_synchronize();
			object_free(&old->rcu);
		}
		port_rcu_poll();
	}
	atomic_fetch_add(&writers_done, 1);
}

static void read_objects(unsigned cpu)
{
	struct random random;

	random_seed(&random, seed + cpu);
	while (atomic_load(&writers_done) != WRITERS) {
		const struct object *object;

		port_rcu_read_lock();
		invariant(port_rcu_read_held());
		object = rcu_dereference(&current_object);
		/* Looks again and again while writers go on; sections nest. */
		for (uint64_t looks = random_below(&random, 50); looks > 0; looks--) {
			port_rcu_read_lock();
			invariant(object->check == (object->number ^ WHOLE));
			port_rcu_read_unlock();
			if (looks % 16 == 0)
				port_cpu_relax();
		}
		port_rcu_read_unlock();
		invariant(!port_rcu_read_held());
	}
}

static void replace_or_read(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu < WRITERS)
		replace_objects(cpu);
	else
		read_objects(cpu);
}

static void objects_live_as_long_as_readers(void **state)
{
	(void)state;
	seed = test_seed() * CPUS;
	assert_int_equal(host_open(CPUS), 0);
	spin_lock_init(&writers, LOCK_RANK_TEST_OUTER);
	atomic_store(&current_object, object_make(0));
	run_cpus(replace_or_read, NULL);
	/* A barrier runs the callbacks that other CPUs have left behind. */
	port_rcu_barrier();
	assert_int_equal(atomic_load(&made), WRITERS * REPLACED + 1);
	assert_int_equal(atomic_load(&freed), WRITERS * REPLACED);
	object_free(&atomic_load(&current_object)->rcu);
	host_close();
}

static struct port_rcu_head heads[2];
static _Atomic unsigned ran;
static _Atomic unsigned step;

static void note_run(struct port_rcu_head *head)
{
	invariant(!port_rcu_read_held());
	atomic_fetch_add(&ran, head == &heads[0] ? 1 : 100);
}

static void await_step(unsigned wanted)
{
	while (atomic_load(&step) != wanted)
		port_cpu_relax();
}

/*
 *   CPU 0            call poll: not run . . . . . . poll until run
 *   CPU 1   [ section . . . . . . . . . . . . . . ]
 */
static void script_call(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 1) {
		port_rcu_read_lock();
		atomic_store(&step, 1);
		await_step(2);
		invariant(atomic_load(&ran) == 0);
		port_rcu_read_unlock();
		return;
	}
	await_step(1);
	port_rcu_call(&heads[0], note_run);
	for (unsigned i = 0; i < 200; i++) {
		port_rcu_poll();
		port_cpu_relax();
		invariant(atomic_load(&ran) == 0);
	}
	atomic_store(&step, 2);
	while (atomic_load(&ran) == 0) {
		port_rcu_poll();
		port_cpu_relax();
	}
}

static void callbacks_wait_for_open_sections(void **state)
{
	(void)state;
	assert_int_equal(host_open(2), 0);
	atomic_store(&ran, 0);
	atomic_store(&step, 0);
	run_cpus(script_call, NULL);
	assert_int_equal(atomic_load(&ran), 1);
	host_close();
}

static void call_again(struct port_rcu_head *head)
{
	(void)head;
	atomic_fetch_add(&ran, 1);
	port_rcu_call(&heads[1], note_run);
}

static void close_runs_what_callbacks_hand_over(void **state)
{
	(void)state;
	atomic_store(&ran, 0);
	assert_int_equal(host_open(1), 0);
	port_rcu_call(&heads[0], call_again);
	host_close();
	assert_int_equal(atomic_load(&ran), 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(objects_live_as_long_as_readers),
	    cmocka_unit_test(callbacks_wait_for_open_sections),
	    cmocka_unit_test(close_runs_what_callbacks_hand_over),
	};

	return cmocka_run_group_tests_name("sync/rcu", tests, NULL, NULL);
}
