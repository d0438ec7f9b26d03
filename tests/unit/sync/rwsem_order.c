/* SPDX-License-Identifier: MIT */
/*
 * The read-write semaphore serves sleepers in the order in which they came, readers that stand together at
 * once. A random row of waiters is queued one by one behind a writer; a naive oracle tells who may be served
 * together.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "host/memory.h"
#include "port/panic.h"
#include "sync/rwsem.h"
#include "tests/common/on_cpus.h"

#define WAITERS_MAX 8u
#define ROUNDS      30u

static struct {
	struct lock_nodes nodes;
	struct rwsem sem;
	unsigned waiters;
	bool writes[WAITERS_MAX + 1]; /* by CPU; CPU 0 holds the semaphore first */
	unsigned batch[WAITERS_MAX + 1];
	_Atomic unsigned inside[WAITERS_MAX + 1]; /* by batch: how many of it have been let in */
	_Atomic unsigned turn;                    /* the CPU that is to queue next */
} test;

/* Waits until the queue holds `count` sleepers. */
static void await_queue(unsigned count)
{
	unsigned seen;

	do {
		port_cpu_relax();
		spin_lock(&test.sem.wait_lock);
		seen = 0;
		for (const struct rwsem_waiter *waiter = test.sem.first; waiter; waiter = waiter->next)
			seen++;
		spin_unlock(&test.sem.wait_lock);
	} while (seen != count);
}

static unsigned batch_size(unsigned batch)
{
	unsigned size = 0;

	for (unsigned cpu = 1; cpu <= test.waiters; cpu++)
		size += test.batch[cpu] == batch;
	return size;
}

/* Inside the semaphore: all earlier batches have been in, no later one, and ours may meet in here. */
static void check_turn(unsigned cpu)
{
	unsigned batch = test.batch[cpu];

	for (unsigned other = 1; other <= WAITERS_MAX; other++) {
		unsigned inside = atomic_load(&test.inside[other]);

		if (other < batch)
			invariant(inside == batch_size(other));
		if (other > batch)
			invariant(inside == 0);
	}
	/* Readers of one batch all hold it at once: none leaves before the last is in. */
	atomic_fetch_add(&test.inside[batch], 1);
	while (atomic_load(&test.inside[batch]) != batch_size(batch))
		port_cpu_relax();
}

static void queue_up(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0) {
		down_write(&test.sem);
		for (unsigned next = 1; next <= test.waiters; next++) {
			atomic_store(&test.turn, next);
			await_queue(next);
		}
		invariant(!down_read_trylock(&test.sem));
		up_write(&test.sem);
		return;
	}
	if (cpu > test.waiters)
		return;
	while (atomic_load(&test.turn) != cpu)
		port_cpu_relax();
	if (test.writes[cpu]) {
		down_write(&test.sem);
		check_turn(cpu);
		up_write(&test.sem);
	} else {
		down_read(&test.sem);
		check_turn(cpu);
		up_read(&test.sem);
	}
}

static void order_is_first_come_first_served(const struct rwsem_ops *ops)
{
	struct random random;

	random_seed(&random, test_seed());
	memset(&test, 0, sizeof(test));
	assert_int_equal(host_open(WAITERS_MAX + 1), 0);
	assert_int_equal(lock_nodes_open(&test.nodes), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned batch = 0;

		rwsem_init(&test.sem, ops, LOCK_RANK_TEST_OUTER, &test.nodes);
		test.waiters = 1 + (unsigned)random_below(&random, WAITERS_MAX);
		for (unsigned cpu = 1; cpu <= test.waiters; cpu++) {
			test.writes[cpu] = random_below(&random, 2);
			if (cpu == 1 || test.writes[cpu] || test.writes[cpu - 1])
				batch++;
			test.batch[cpu] = batch;
		}
		for (unsigned i = 0; i <= WAITERS_MAX; i++)
			atomic_store(&test.inside[i], 0);
		atomic_store(&test.turn, 0);
		run_cpus(queue_up, NULL);
		for (unsigned i = 1; i <= batch; i++)
			assert_int_equal(atomic_load(&test.inside[i]), batch_size(i));
		assert_true(down_write_trylock(&test.sem));
		up_write(&test.sem);
	}
	lock_nodes_close(&test.nodes);
	host_close();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

static void spin_form(void **state)
{
	(void)state;
	order_is_first_come_first_served(&rwsem_spin_ops);
}

static void xadd_form(void **state)
{
	(void)state;
	order_is_first_come_first_served(&rwsem_xadd_ops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spin_form),
	    cmocka_unit_test(xadd_form),
	};

	return cmocka_run_group_tests_name("sync/rwsem_order", tests, NULL, NULL);
}
