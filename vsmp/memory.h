/* SPDX-License-Identifier: MIT */
/*
 * The arena: the memory that simulated code allocates. It lies at one fixed address, and allocations follow
 * each other in the order of the calls, so an address, and the identity of a cache line, is the same in every
 * run.
 */
#ifndef VSMP_MEMORY_H
#define VSMP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "vsmp/observe/observe.h"

/* Returns 0 or -ENOMEM. */
int memory_open(void);
void memory_close(void);

/* The socket whose memory holds `address` of the arena, when `socket` is the first to touch its line. */
unsigned memory_home(uintptr_t address, unsigned socket);

/* Behind port_memory_alloc() and port_memory_free(). */
void *vsmp_memory_alloc(size_t bytes, unsigned node, const char *type_name);
void vsmp_memory_free(void *memory, size_t bytes);

/* --- While the machine explores, when no address is given out twice ------------------------------------- */

/* The allocations of now are those that memory_put_back() brings back; those made since, it forgets. */
void memory_baseline(void);
void memory_put_back(void);

/* Returns how many allocations have not been freed, and in `first`, when there are any, what the first is. */
size_t memory_used(struct observe_place *first);

#endif
