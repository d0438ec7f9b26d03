/* SPDX-License-Identifier: MIT */
/*
 * Contract: objects that live and die inside memory that stays allocated: frames in the frame allocator, VMAs
 * in their cache. A machine that looks for faults reports any access of a dead one; another does nothing.
 */
#ifndef PORT_LIFETIME_H
#define PORT_LIFETIME_H

#include <stddef.h>

/*
 * Returns nonzero when lives are looked at. Where it is 0, the calls below do nothing, and whoever would have
 * to work out an address for them need not.
 */
static inline int port_memory_watched(void);

/*
 * Nobody may access [memory, memory + bytes) until port_memory_alive(). Called by whoever takes the object
 * into a cache of free ones, after its own last access. `what` names it in reports ("frame", "struct vma").
 */
static inline void port_memory_dead(const void *memory, size_t bytes, const char *what);

/*
 * A new life begins; the contents are those of the cache that handed it out. port_memory_free() ends what is
 * dead in the memory that it gets, too.
 */
static inline void port_memory_alive(const void *memory, size_t bytes);

#include <port_home/lifetime.h>

#endif
