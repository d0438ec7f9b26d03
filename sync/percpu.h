/* SPDX-License-Identifier: MIT */
/*
 * Per-CPU data: one object for each CPU, on cache lines of its own whose home is the CPU's memory node.
 */
#ifndef SYNC_PERCPU_H
#define SYNC_PERCPU_H

#include <errno.h>
#include <stddef.h>

#include "port/cpu.h"
#include "port/memory.h"

/*
 * The slots never move and their addresses are written once, before another CPU sees this, so looking one up
 * reads only lines that nobody writes.
 */
struct percpu {
	void **slots; /* by CPU number */
	size_t bytes; /* of one object */
};

/* Frees every slot; an object that percpu_alloc() refused, or one that is zero, is allowed. */
static inline void percpu_free(struct percpu *percpu)
{
	if (!percpu->slots)
		return;
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
		port_memory_free(percpu->slots[cpu], percpu->bytes);
	port_memory_free(percpu->slots, port_cpu_count() * sizeof(*percpu->slots));
	percpu->slots = NULL;
}

/*
 * Makes one zeroed object of `bytes` bytes and C type `type_name` (see port_memory_alloc()) for each CPU.
 * Returns 0, or -ENOMEM with nothing kept. Not from the fault path.
 */
static inline int percpu_alloc(struct percpu *percpu, size_t bytes, const char *type_name)
{
	percpu->bytes = bytes;
	percpu->slots =
	    port_memory_alloc(port_cpu_count() * sizeof(*percpu->slots), port_cpu_node(port_cpu()), "void *");
	if (!percpu->slots)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		percpu->slots[cpu] = port_memory_alloc(bytes, port_cpu_node(cpu), type_name);
		if (!percpu->slots[cpu]) {
			percpu_free(percpu);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Returns the object of `cpu`. */
static inline void *percpu_of(const struct percpu *percpu, unsigned cpu)
{
	return percpu->slots[cpu];
}

/* Returns the calling CPU's object. */
static inline void *percpu_this(const struct percpu *percpu)
{
	return percpu->slots[port_cpu()];
}

#endif
