/* SPDX-License-Identifier: MIT */
#include "mm/object/waiter.h"

#include "mm/object/objects.h"

/* In an announcement, beside the object's address: nobody has a reference any more. */
#define MARKED ((uintptr_t)1)

void object_wait_begin(struct objects *objects, struct sf_object *object)
{
	struct objects_cpu *own = percpu_this(&objects->cpu);

	invariant(!atomic_load_explicit(&own->waits_for, memory_order_relaxed));
	atomic_store_explicit(&own->waits_for, (uintptr_t)object, memory_order_seq_cst);
}

void object_wait_end(struct objects *objects)
{
	struct objects_cpu *own = percpu_this(&objects->cpu);
	uintptr_t announced = atomic_exchange_explicit(&own->waits_for, 0, memory_order_acq_rel);
	struct sf_object *object = (struct sf_object *)(announced & ~MARKED);

	if (!(announced & MARKED))
		return;
	/* Acquire and release: what all others did comes before the end. */
	if (atomic_fetch_sub_explicit(&object->waiters, 1, memory_order_acq_rel) == 1)
		object->object.ops->destroy(&object->object);
}

/* The count starts with one for each CPU and one of our own, so that it is 0 only when all are done. */
bool object_wait_hand_over(struct sf_object *object)
{
	struct objects *objects = object->objects;
	unsigned cpus = port_cpu_count(), unmarked = 1;

	atomic_store_explicit(&object->waiters, cpus + 1, memory_order_relaxed);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct objects_cpu *of_cpu = percpu_of(&objects->cpu, cpu);
		uintptr_t announced = (uintptr_t)object;

		/* Mostly there is none, and looking leaves the line where it is. */
		if (atomic_load_explicit(&of_cpu->waits_for, memory_order_seq_cst) != announced ||
		    !atomic_compare_exchange_strong_explicit(&of_cpu->waits_for, &announced,
							     announced | MARKED, memory_order_seq_cst,
							     memory_order_seq_cst))
			unmarked++;
	}
	return atomic_fetch_sub_explicit(&object->waiters, unmarked, memory_order_acq_rel) != unmarked;
}
