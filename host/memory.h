/* SPDX-License-Identifier: MIT */
/*
 * What the real machine's memory can be asked: to run out, as tests do, how much of it is in use, and to be
 * real before it is used. May be called from any thread.
 */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include <stdbool.h>
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

/*
 * Whether what port_memory_alloc() gives out from now on, a page or more, is made at once, if there is memory
 * for all of it. Else each page is made where it is first touched, which takes longer than a fault of ours.
 */
void host_memory_populate(bool populate);

#endif
