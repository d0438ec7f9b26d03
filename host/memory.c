/* SPDX-License-Identifier: MIT */
#include "host/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/lifetime.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/panic.h"

static _Atomic size_t in_use_bytes;

/* How many more allocations may succeed; negative: as many as there is memory for. */
static _Atomic int64_t allocations_left = -1;

/* For mmap(2): MAP_POPULATE or 0. */
static _Atomic int populating;

void host_memory_populate(bool populate)
{
	atomic_store_explicit(&populating, populate ? MAP_POPULATE : 0, memory_order_relaxed);
}

void host_memory_fail_after(uint64_t allocations)
{
	atomic_store_explicit(&allocations_left, (int64_t)allocations, memory_order_relaxed);
}

void host_memory_fail_never(void)
{
	atomic_store_explicit(&allocations_left, -1, memory_order_relaxed);
}

size_t host_memory_in_use_bytes(void)
{
	return atomic_load_explicit(&in_use_bytes, memory_order_relaxed);
}

/* Takes one of the allocations that may succeed. Returns 0 when there are none left. */
static int may_allocate(void)
{
	int64_t left = atomic_load_explicit(&allocations_left, memory_order_relaxed);

	while (left > 0) {
		if (atomic_compare_exchange_weak_explicit(&allocations_left, &left, left - 1,
							  memory_order_relaxed, memory_order_relaxed))
			return 1;
	}
	return left < 0;
}

static size_t rounded(size_t bytes, size_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

void *host_memory_alloc(size_t bytes, unsigned node)
{
	void *memory;

	invariant(bytes > 0);
	invariant(node < port_node_count() || node == PORT_NODE_FIRST_TOUCH);
	if (!may_allocate() || bytes > SIZE_MAX - PORT_PAGE_SIZE)
		return NULL;
	if (bytes < PORT_PAGE_SIZE) {
		memory = aligned_alloc(CACHE_LINE_BYTES, rounded(bytes, CACHE_LINE_BYTES));
		if (!memory)
			return NULL;
		memset(memory, 0, bytes);
	} else {
		/* Untouched pages of it cost nothing, and the system does not promise memory for them. */
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				  atomic_load_explicit(&populating, memory_order_relaxed),
			      -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
	}
	atomic_fetch_add_explicit(&in_use_bytes, bytes, memory_order_relaxed);
	return memory;
}

#ifdef HOST_ADDRESS_SANITIZER
/*
 * Makes all of a mapping accessible to the sanitizer, since its addresses may come back for anything; free()
 * sees to that itself. Whole pages of the sanitizer's table are thrown away unseen: the mapping can be far
 * larger than memory.
 */
static void forget_dead(void *memory, size_t bytes)
{
	size_t scale, offset;
	uintptr_t first, end, first_page, last_page;

	__asan_get_shadow_mapping(&scale, &offset);
	first = ((uintptr_t)memory >> scale) + offset;
	end = (((uintptr_t)memory + rounded(bytes, PORT_PAGE_SIZE)) >> scale) + offset;
	first_page = rounded(first, PORT_PAGE_SIZE);
	last_page = end & ~(uintptr_t)(PORT_PAGE_SIZE - 1);
	if (first_page >= last_page) {
		port_memory_alive(memory, bytes);
		return;
	}
	port_memory_alive(memory, (first_page - first) << scale);
	port_memory_alive((char *)memory + ((last_page - first) << scale), (end - last_page) << scale);
	invariant(madvise((void *)first_page, last_page - first_page, MADV_DONTNEED) == 0);
}
#else
static void forget_dead(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
}
#endif

void host_memory_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	invariant(bytes > 0 && bytes <= host_memory_in_use_bytes());
	atomic_fetch_sub_explicit(&in_use_bytes, bytes, memory_order_relaxed);
	if (bytes < PORT_PAGE_SIZE) {
		free(memory);
		return;
	}
	forget_dead(memory, bytes);
	invariant(munmap(memory, bytes) == 0);
}
