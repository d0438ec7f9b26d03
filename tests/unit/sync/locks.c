/* SPDX-License-Identifier: MIT */
/*
 * Every lock: mutual exclusion, sharing, trylocks. Two words that a writer changes one after the other are
 * equal to whoever holds the lock; their sum tells that no change was lost.
 */
#include "tests/common/locks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "host/memory.h"
#include "port/panic.h"
#include "tests/common/on_cpus.h"

#define CPUS   6u
#define ROUNDS 2000u

struct fixture {
	union any_lock lock;
	const struct lock_type *type;
	struct lock_nodes nodes;
	uint64_t seed;
	uint64_t first, second;  /* equal outside a writer's section; by the lock */
	_Atomic uint64_t writes; /* what `first` must end at */
	_Atomic unsigned step;   /* of a scripted test */
};

static struct fixture fixture;

static void open_machine(const struct lock_type *type, unsigned cpus)
{
	memset(&fixture, 0, sizeof(fixture));
	assert_int_equal(host_open(cpus), 0);
	assert_int_equal(lock_nodes_open(&fixture.nodes), 0);
	fixture.type = type;
	type->init(&fixture.lock, &fixture.nodes);
}

static void close_machine(void)
{
	lock_nodes_close(&fixture.nodes);
	host_close();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

static void write_section(void)
{
	invariant(fixture.first == fixture.second);
	fixture.first++;
	fixture.second++;
	atomic_fetch_add_explicit(&fixture.writes, 1, memory_order_relaxed);
}

static void read_section(void)
{
	invariant(fixture.first == fixture.second);
}

static void random_takes(unsigned cpu, void *argument)
{
	const struct lock_type *type = fixture.type;
	struct random random;

	(void)argument;
	random_seed(&random, fixture.seed + cpu);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t kind = random_below(&random, type->lock_shared ? 8 : 2);

		if (kind == 0) {
			type->lock(&fixture.lock);
			write_section();
			type->unlock(&fixture.lock);
		} else if (kind == 1) {
			if (!type->trylock(&fixture.lock))
				continue;
			write_section();
			type->unlock(&fixture.lock);
		} else if (kind < 6) {
			type->lock_shared(&fixture.lock);
			read_section();
			type->unlock_shared(&fixture.lock);
		} else if (type->trylock_shared(&fixture.lock)) {
			read_section();
			type->unlock_shared(&fixture.lock);
		}
	}
}

static void sections_exclude_each_other(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		open_machine(&lock_types[i], CPUS);
		fixture.seed = seed * CPUS;
		run_cpus(random_takes, NULL);
		assert_int_equal(fixture.first, fixture.writes);
		assert_int_equal(fixture.second, fixture.writes);
		assert_true(fixture.writes > 0);
		/* Free again: both sides can be had. */
		assert_true(lock_types[i].trylock(&fixture.lock));
		lock_types[i].unlock(&fixture.lock);
		close_machine();
	}
}

static void count_alone(unsigned cpu, void *argument)
{
	(void)cpu;
	(void)argument;
	for (unsigned round = 0; round < ROUNDS; round++) {
		fixture.type->lock(&fixture.lock);
		fixture.first++;
		fixture.type->unlock(&fixture.lock);
	}
}

static void counter_is_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		open_machine(&lock_types[i], CPUS);
		run_cpus(count_alone, NULL);
		assert_int_equal(fixture.first, CPUS * ROUNDS);
		close_machine();
	}
}

/* A ticket's numbers wrap around at 65,536. */
static void many_takes_on_one_cpu(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		const struct lock_type *type = &lock_types[i];

		open_machine(type, 1);
		for (unsigned round = 0; round < 70000; round++) {
			if (round & 1) {
				type->lock(&fixture.lock);
			} else {
				assert_true(type->trylock(&fixture.lock));
			}
			type->unlock(&fixture.lock);
		}
		close_machine();
	}
}

static void await_step(unsigned step)
{
	while (atomic_load_explicit(&fixture.step, memory_order_acquire) != step)
		port_cpu_relax();
}

static void next_step(void)
{
	atomic_fetch_add_explicit(&fixture.step, 1, memory_order_release);
}

/*
 *   CPU 0   lock . . . . . . . . . unlock            shared . . . . . . unshared
 *   CPU 1        try: no, shared try: no   try: yes         try: no, shared try: yes
 */
static void script_trylock(unsigned cpu, void *argument)
{
	const struct lock_type *type = fixture.type;
	union any_lock *lock = &fixture.lock;

	(void)argument;
	if (cpu == 0) {
		type->lock(lock);
		next_step();
		await_step(2);
		type->unlock(lock);
		next_step();
		await_step(4);
		if (type->lock_shared)
			type->lock_shared(lock);
		next_step();
		await_step(6);
		if (type->lock_shared)
			type->unlock_shared(lock);
		return;
	}
	await_step(1);
	invariant(!type->trylock(lock));
	invariant(!type->trylock_shared || !type->trylock_shared(lock));
	next_step();
	await_step(3);
	invariant(type->trylock(lock));
	type->unlock(lock);
	next_step();
	await_step(5);
	if (type->lock_shared) {
		invariant(!type->trylock(lock));
		invariant(type->trylock_shared(lock));
		type->unlock_shared(lock);
		/* Not only the try: a second reader does not wait for the first. */
		type->lock_shared(lock);
		type->unlock_shared(lock);
	}
	next_step();
}

static void trylock_takes_only_what_is_free(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		open_machine(&lock_types[i], 2);
		run_cpus(script_trylock, NULL);
		assert_int_equal(fixture.step, 6);
		close_machine();
	}
}

/*
 *   CPU 0   shared . . . . . . . . . . . . try until no . unshared
 *   CPU 1          lock (waits) . . . . . . . . . . . . . . . . . . first = 1, unlock
 *   CPU 2                                  when no: shared (waits) . . . . . . . . . . sees first == 1
 *
 * A waiting writer keeps new readers out, so readers that never let the lock go cannot starve it.
 */
static void script_writer_waits(unsigned cpu, void *argument)
{
	const struct lock_type *type = fixture.type;
	union any_lock *lock = &fixture.lock;

	(void)argument;
	if (cpu == 0) {
		type->lock_shared(lock);
		next_step();
		await_step(2);
		type->unlock_shared(lock);
	} else if (cpu == 1) {
		await_step(1);
		type->lock(lock);
		fixture.first = 1;
		type->unlock(lock);
	} else {
		await_step(1);
		while (type->trylock_shared(lock)) {
			type->unlock_shared(lock);
			port_cpu_relax();
		}
		next_step();
		type->lock_shared(lock);
		invariant(fixture.first == 1);
		type->unlock_shared(lock);
	}
}

static void waiting_writer_keeps_readers_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_types); i++) {
		if (!lock_types[i].lock_shared)
			continue;
		open_machine(&lock_types[i], 3);
		run_cpus(script_writer_waits, NULL);
		assert_int_equal(fixture.first, 1);
		close_machine();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sections_exclude_each_other),
	    cmocka_unit_test(counter_is_exact),
	    cmocka_unit_test(many_takes_on_one_cpu),
	    cmocka_unit_test(trylock_takes_only_what_is_free),
	    cmocka_unit_test(waiting_writer_keeps_readers_out),
	};

	return cmocka_run_group_tests_name("sync/locks", tests, NULL, NULL);
}
