/* SPDX-License-Identifier: MIT */
/*
 * Every lock of sync/ on 64 simulated CPUs: a counter under it ends exact, readers see no half-done write,
 * and the lock statistics count each take.
 */
#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "port/panic.h"
#include "sync/rcu.h"
#include "sync/refcount.h"
#include "sync/seqcount.h"
#include "tests/common/locks.h"

#define CPUS   64u
#define ROUNDS 40u

static struct {
	union any_lock lock;
	struct lock_nodes nodes;
	const struct lock_type *type;
	CACHE_LINE_ALIGNED uint64_t first; /* equal outside a writer's section; by the lock */
	CACHE_LINE_ALIGNED uint64_t second;
	CACHE_LINE_ALIGNED _Atomic uint64_t writes, reads;
	uint64_t seed;
} counter;

static void open_lock(void *argument)
{
	const struct lock_type *type = argument;

	invariant(lock_nodes_open(&counter.nodes) == 0);
	counter.type = type;
	counter.first = counter.second = 0;
	atomic_store(&counter.writes, 0);
	atomic_store(&counter.reads, 0);
	type->init(&counter.lock, &counter.nodes);
}

static void close_lock(void *unused)
{
	(void)unused;
	lock_nodes_close(&counter.nodes);
}

static void count_alone(unsigned cpu, void *argument)
{
	(void)cpu;
	(void)argument;
	vsmp_measure_begin();
	for (unsigned round = 0; round < ROUNDS; round++) {
		counter.type->lock(&counter.lock);
		counter.first++;
		counter.type->unlock(&counter.lock);
	}
	vsmp_measure_end();
}

/* How often the report says that locks of `name` were acquired, both sides. */
static uint64_t acquisitions(const char *name)
{
	struct vsmp_report report;
	uint64_t sum = 0;

	assert_int_equal(vsmp_report(&report), 0);
	for (size_t i = 0; i < report.lock_count; i++)
		sum += strcmp(report.locks[i].name, name) ? 0 : report.locks[i].acquisitions;
	vsmp_report_free(&report);
	return sum;
}

static void counter_is_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct message why = {""};

			fixture_create(4, 8, 2, CPUS, seed);
			assert_int_equal(vsmp_setup(open_lock, (void *)&lock_types[i], &why), 0);
			if (vsmp_run(count_alone, NULL, 1000, &why))
				fail_msg("%s: %s\n%s", lock_types[i].name, why.text, vsmp_deadlock_report());
			assert_int_equal(counter.first, CPUS * ROUNDS);
			assert_int_equal(acquisitions("test_outer_lock"), CPUS * ROUNDS);
			assert_int_equal(vsmp_setup(close_lock, NULL, &why), 0);
			vsmp_destroy();
		}
	}
}

static void write_section(void)
{
	invariant(counter.first == counter.second);
	counter.first++;
	counter.second++;
	atomic_fetch_add_explicit(&counter.writes, 1, memory_order_relaxed);
}

static void read_section(void)
{
	invariant(counter.first == counter.second);
	atomic_fetch_add_explicit(&counter.reads, 1, memory_order_relaxed);
}

static void random_takes(unsigned cpu, void *argument)
{
	const struct lock_type *type = counter.type;
	struct random random;

	(void)argument;
	random_seed(&random, counter.seed * CPUS + cpu);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t kind = random_below(&random, type->lock_shared ? 8 : 2);

		if (kind == 0) {
			type->lock(&counter.lock);
			write_section();
			type->unlock(&counter.lock);
		} else if (kind == 1) {
			if (!type->trylock(&counter.lock))
				continue;
			write_section();
			type->unlock(&counter.lock);
		} else if (kind < 6) {
			type->lock_shared(&counter.lock);
			read_section();
			type->unlock_shared(&counter.lock);
		} else if (type->trylock_shared(&counter.lock)) {
			read_section();
			type->unlock_shared(&counter.lock);
		}
	}
}

static void readers_see_whole_writes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct message why = {""};

			counter.seed = seed;
			fixture_create(4, 8, 2, CPUS, seed);
			assert_int_equal(vsmp_setup(open_lock, (void *)&lock_types[i], &why), 0);
			if (vsmp_run(random_takes, NULL, 1000, &why))
				fail_msg("%s: %s\n%s", lock_types[i].name, why.text, vsmp_deadlock_report());
			assert_true(counter.writes > 0);
			assert_int_equal(counter.first, counter.writes);
			assert_int_equal(counter.second, counter.writes);
			assert_true(!lock_types[i].lock_shared || counter.reads > 0);
			assert_int_equal(vsmp_setup(close_lock, NULL, &why), 0);
			vsmp_destroy();
		}
	}
}

/* --- What is not a lock -----------------------------------------------------------------------------------
 */

struct object {
	struct port_rcu_head rcu;
	struct refcount references;
	_Atomic uint64_t alive;
};

static struct {
	CACHE_LINE_ALIGNED struct object objects[CPUS]
						[4]; /* each CPU publishes its own, one after the other */
	struct object *_Atomic current;
	struct spinlock writers;
	CACHE_LINE_ALIGNED struct seqcount sequence; /* of the two words; written by `writers` */
	_Atomic uint64_t one, double_of_it;
	_Atomic unsigned freed;
} shared;

static void free_object(struct port_rcu_head *head)
{
	struct object *object = container_of(head, struct object, rcu);

	invariant(refcount_read(&object->references) == 0);
	atomic_store_explicit(&object->alive, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&shared.freed, 1, memory_order_relaxed);
}

static void put_object(struct object *object)
{
	if (refcount_dec_and_test(&object->references))
		port_rcu_call(&object->rcu, free_object);
}

static void publish(struct object *object)
{
	struct object *old;
	uint64_t next;

	refcount_init(&object->references, 1);
	atomic_store_explicit(&object->alive, 1, memory_order_relaxed);
	spin_lock(&shared.writers);
	old = rcu_dereference_locked(&shared.current);
	rcu_assign_pointer(&shared.current, object);
	next = atomic_load_explicit(&shared.one, memory_order_relaxed) + 1;
	seqcount_write_begin(&shared.sequence);
	atomic_store_explicit(&shared.one, next, memory_order_relaxed);
	atomic_store_explicit(&shared.double_of_it, 2 * next, memory_order_relaxed);
	seqcount_write_end(&shared.sequence);
	spin_unlock(&shared.writers);
	if (old)
		put_object(old);
}

static void look(void)
{
	struct object *object;
	uint64_t one, double_of_it;
	uint32_t began;

	port_rcu_read_lock();
	object = rcu_dereference(&shared.current);
	if (object) {
		bool referenced = refcount_inc_not_zero(&object->references);

		/* With or without a reference: the section keeps it. */
		invariant(atomic_load_explicit(&object->alive, memory_order_relaxed));
		if (!referenced)
			object = NULL;
	}
	port_rcu_read_unlock();
	do {
		began = seqcount_read_begin(&shared.sequence);
		one = atomic_load_explicit(&shared.one, memory_order_relaxed);
		double_of_it = atomic_load_explicit(&shared.double_of_it, memory_order_relaxed);
	} while (seqcount_read_retry(&shared.sequence, began));
	invariant(double_of_it == 2 * one);
	if (object) {
		invariant(atomic_load_explicit(&object->alive, memory_order_relaxed));
		put_object(object);
	}
}

static void publish_and_look(unsigned cpu, void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < ARRAY_SIZE(shared.objects[cpu]); i++) {
		publish(&shared.objects[cpu][i]);
		for (unsigned looks = 0; looks < 3; looks++)
			look();
		port_rcu_poll();
	}
}

static void drop_last(void *unused)
{
	(void)unused;
	put_object(rcu_dereference_locked(&shared.current));
	port_rcu_barrier();
}

static void objects_are_freed_once_nobody_looks(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct message why = {""};

		memset(&shared, 0, sizeof(shared));
		spin_lock_init(&shared.writers, LOCK_RANK_TEST_OUTER);
		fixture_create(4, 8, 2, CPUS, seed);
		if (vsmp_run(publish_and_look, NULL, 1000, &why))
			fail_msg("%s\n%s", why.text, vsmp_deadlock_report());
		assert_int_equal(shared.one, CPUS * ARRAY_SIZE(shared.objects[0]));
		assert_int_equal(vsmp_setup(drop_last, NULL, &why), 0);
		assert_int_equal(shared.freed, CPUS * ARRAY_SIZE(shared.objects[0]));
		vsmp_destroy();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counter_is_exact),
	    cmocka_unit_test(readers_see_whole_writes),
	    cmocka_unit_test(objects_are_freed_once_nobody_looks),
	};

	return cmocka_run_group_tests_name("vsmp/locks_counter", tests, NULL, NULL);
}
