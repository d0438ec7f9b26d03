/* SPDX-License-Identifier: MIT */
/*
 * What tests can ask of the real machine's memory: to run out, and how much of it is in use. May be called
 * from any thread.
 */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lets the next `allocations` calls of port_memory_alloc() succeed, counted over all threads, and every later
 * one return NULL, until host_memory_fail_never().
 */
void host_memory_fail_after(uint64_t allocations);
void host_memory_fail_never(void);

/* How many bytes port_memory_alloc() has given out that port_memory_free() has not had back. */
size_t host_memory_in_use_bytes(void);

#endif
