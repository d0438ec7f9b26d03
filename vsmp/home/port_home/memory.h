/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_MEMORY_H
#define PORT_HOME_MEMORY_H

#include "vsmp/home/inline.h"

#include <stddef.h>

/* vsmp/memory.c. */
void *vsmp_memory_alloc(size_t bytes, unsigned node, const char *type_name);
void vsmp_memory_free(void *memory, size_t bytes);

PORT_HOME_INLINE void *port_memory_alloc(size_t bytes, unsigned node, const char *type_name)
{
	return vsmp_memory_alloc(bytes, node, type_name);
}

PORT_HOME_INLINE void port_memory_free(void *memory, size_t bytes)
{
	vsmp_memory_free(memory, bytes);
}

#endif
