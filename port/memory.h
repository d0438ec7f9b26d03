/* SPDX-License-Identifier: MIT */
/*
 * Contract: memory for the subsystem's own structures, outside the fault path.
 */
#ifndef PORT_MEMORY_H
#define PORT_MEMORY_H

#include <stddef.h>

/* Lets the machine choose the node: that of the CPU which touches a page of it first. */
#define PORT_NODE_FIRST_TOUCH (~0u)

/*
 * Returns `bytes` of zeroed memory that starts on a cache line (on a page if bytes is a page or more), or
 * NULL when there is none. Address space is reserved, memory is used only where it is touched, so a huge
 * table costs what is used of it. node       0 to port_node_count() - 1, or PORT_NODE_FIRST_TOUCH: where its
 * cache lines have their home type_name  the C type of what is in it, an array of that type if it is larger
 * ("struct page"); reports name lines by it; or NULL May take the host's locks: never from the fault path.
 */
static inline void *port_memory_alloc(size_t bytes, unsigned node, const char *type_name);

/* Gives back what port_memory_alloc(bytes, ...) returned; NULL is allowed. No CPU may still use it. */
static inline void port_memory_free(void *memory, size_t bytes);

#include <port_home/memory.h>

#endif
