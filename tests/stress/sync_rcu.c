/* SPDX-License-Identifier: MIT */
/*
 * A table of reference-counted objects under RCU, as a page index is: readers find an object without a lock
 * and take a reference unless it is dying; writers take objects out and put the table's reference; whoever
 * puts the last one frees the object a grace period later. A sequence count tells readers which generation of
 * the table they looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "sync/rcu.h"
#include "sync/refcount.h"
#include "sync/seqcount.h"
#include "sync/spinlock.h"
#include "tests/common/on_cpus.h"

#define CPUS   6u
#define SLOTS  4u
#define ROUNDS 3000u
#define ALIVE  UINT64_C(0xa11fea11fea11fe)

struct object {
	struct port_rcu_head rcu;
	struct refcount references;
	unsigned slot;
	uint64_t state; /* ALIVE until freed */
	struct spinlock lock;
	uint64_t uses; /* by lock */
};

static struct {
	struct object *_Atomic slots[SLOTS];
	_Atomic uint64_t filled[SLOTS]; /* how often the slot has been filled; under `sequence` */
	struct seqcount sequence;       /* written under writers */
	struct spinlock writers;
	_Atomic uint64_t made, freed;
	uint64_t seed;
} table;

static void object_free(struct port_rcu_head *head)
{
	struct object *object = container_of(head, struct object, rcu);

	invariant(object->state == ALIVE && refcount_read(&object->references) == 0);
	object->state = 0;
	free(object);
	atomic_fetch_add(&table.freed, 1);
}

static void object_put(struct object *object)
{
	if (refcount_dec_and_test(&object->references))
		port_rcu_call(&object->rcu, object_free);
}

/* Puts a new object, or none, into the slot and drops the old one. */
static void replace(unsigned slot, bool fill)
{
	struct object *old, *new = NULL;

	if (fill) {
		new = malloc(sizeof(*new));
		invariant(new);
		memset(new, 0, sizeof(*new));
		refcount_init(&new->references, 1);
		spin_lock_init(&new->lock, LOCK_RANK_TEST_INNER);
		new->slot = slot;
		new->state = ALIVE;
		atomic_fetch_add(&table.made, 1);
	}
	spin_lock(&table.writers);
	old = rcu_dereference_locked(&table.slots[slot]);
	seqcount_write_begin(&table.sequence);
	rcu_assign_pointer(&table.slots[slot], new);
	if (fill)
		atomic_store_explicit(&table.filled[slot],
				      atomic_load_explicit(&table.filled[slot], memory_order_relaxed) + 1,
				      memory_order_relaxed);
	seqcount_write_end(&table.sequence);
	spin_unlock(&table.writers);
	if (old)
		object_put(old);
}

/* Finds the slot's object and uses it with a reference of its own. */
static void use(unsigned slot)
{
	struct object *object;

	port_rcu_read_lock();
	object = rcu_dereference(&table.slots[slot]);
	if (object) {
		invariant(object->state == ALIVE && object->slot == slot);
		if (!refcount_inc_not_zero(&object->references))
			object = NULL;
	}
	port_rcu_read_unlock();
	if (!object)
		return;
	spin_lock(&object->lock);
	object->uses++;
	spin_unlock(&object->lock);
	invariant(object->state == ALIVE);
	object_put(object);
}

/* A slot that was never filled in a generation has no object in it. */
static void look_at_generation(unsigned slot)
{
	uint32_t began = seqcount_read_begin(&table.sequence);
	uint64_t filled = atomic_load_explicit(&table.filled[slot], memory_order_relaxed);
	/* Not followed, so it needs no read section. */
	struct object *object = atomic_load_explicit(&table.slots[slot], memory_order_acquire);

	if (!seqcount_read_retry(&table.sequence, began))
		invariant(filled > 0 || !object);
}

static void work(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, table.seed + cpu);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned slot = (unsigned)random_below(&random, SLOTS);
		uint64_t what = random_below(&random, 16);

		if (what < 2)
			replace(slot, what == 0);
		else if (what < 4)
			look_at_generation(slot);
		else
			use(slot);
		port_rcu_poll();
	}
}

static void objects_come_and_go(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	table.seed = test_seed() * CPUS;
	seqcount_init(&table.sequence);
	spin_lock_init(&table.writers, LOCK_RANK_TEST_OUTER);
	assert_int_equal(host_open(CPUS), 0);
	run_cpus(work, NULL);
	for (unsigned slot = 0; slot < SLOTS; slot++)
		replace(slot, false);
	port_rcu_barrier();
	assert_true(atomic_load(&table.made) > ROUNDS / 16);
	assert_int_equal(atomic_load(&table.freed), atomic_load(&table.made));
	host_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(objects_come_and_go)};

	return cmocka_run_group_tests_name("stress/sync_rcu", tests, NULL, NULL);
}
