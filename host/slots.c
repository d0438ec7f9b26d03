/* SPDX-License-Identifier: MIT */
#include "host/slots.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include "host/cpu.h"
#include "host/rcu.h"
#include "port/cpu.h"
#include "port/panic.h"

/* A bit for each slot that is taken. Changed by atomic read-modify-write: the taker of a slot comes after all
 * that the thread did which gave it back. */
static _Atomic uint64_t taken[PORT_CPUS_MAX / 64];

/*
 * How many slots there are; 0 while the machine is not open for them. Written while no thread has any. The
 * CPU of that number is the spare one.
 */
static _Atomic unsigned slots;

/* How often this thread has taken its slot. */
static _Thread_local unsigned depth;

int host_slots_open(unsigned cpus)
{
	int error = cpus < PORT_CPUS_MAX ? host_open(cpus + 1) : -EINVAL;

	if (error)
		return error;
	/* The thread is CPU 0, and a reader. */
	atomic_store_explicit(&taken[0], 1, memory_order_relaxed);
	atomic_store_explicit(&slots, cpus, memory_order_release);
	depth = 1;
	return 0;
}

void host_slots_close(void)
{
	unsigned slot = port_cpu();

	precondition(depth == 1,
		     "the last system ends inside sf_thread_enter(): sf_thread_exit() comes first");
	for (unsigned word = 0; word < PORT_CPUS_MAX / 64; word++) {
		uint64_t own = slot / 64 == word ? (uint64_t)1 << slot % 64 : 0;

		precondition(atomic_load_explicit(&taken[word], memory_order_acquire) == own,
			     "the last system ends with a thread inside: its sf_thread_exit() comes first");
	}
	atomic_store_explicit(&slots, 0, memory_order_relaxed);
	/* CPU 0 closes the machine, and nobody else is any CPU. */
	host_cpu_self = 0;
	host_close();
	depth = 0;
	atomic_store_explicit(&taken[slot / 64], 0, memory_order_release);
}

/* Takes the lowest slot that is free. Returns its number, or `count` if there is none. */
static unsigned take_free(unsigned count)
{
	for (unsigned slot = 0; slot < count; slot++) {
		uint64_t bit = (uint64_t)1 << slot % 64;

		if (atomic_load_explicit(&taken[slot / 64], memory_order_relaxed) & bit)
			continue;
		if (!(atomic_fetch_or_explicit(&taken[slot / 64], bit, memory_order_acq_rel) & bit))
			return slot;
	}
	return count;
}

static void become_cpu(unsigned slot)
{
	host_cpu_self = slot;
	host_rcu_thread_enter();
	depth = 1;
}

int host_slot_take(void)
{
	unsigned count = atomic_load_explicit(&slots, memory_order_acquire), slot;

	if (depth) {
		depth++;
		return 0;
	}
	slot = take_free(count);
	if (slot == count)
		return -EAGAIN;
	become_cpu(slot);
	return 0;
}

void host_slot_take_spare(void)
{
	unsigned slot = atomic_load_explicit(&slots, memory_order_acquire);
	uint64_t bit = (uint64_t)1 << slot % 64;

	if (depth) {
		depth++;
		return;
	}
	invariant(slot);
	invariant(!(atomic_fetch_or_explicit(&taken[slot / 64], bit, memory_order_acq_rel) & bit));
	become_cpu(slot);
}

void host_slot_give(void)
{
	unsigned slot = port_cpu();

	precondition(depth > 0, "sf_thread_exit() without sf_thread_enter()");
	if (--depth)
		return;
	host_rcu_thread_leave();
	host_cpu_self = HOST_CPU_NONE;
	atomic_fetch_and_explicit(&taken[slot / 64], ~((uint64_t)1 << slot % 64), memory_order_acq_rel);
}

bool host_slot_held(void)
{
	return depth > 0;
}
