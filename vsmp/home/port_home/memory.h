/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_MEMORY_H
#define PORT_HOME_MEMORY_H

#include <stddef.h>

/* vsmp/memory.c. */
void *vsmp_memory_alloc(size_t bytes, unsigned node, const char *type_name);
void vsmp_memory_free(void *memory, size_t bytes);

static inline void *port_memory_alloc(size_t bytes, unsigned node, const char *type_name)
{
	return vsmp_memory_alloc(bytes, node, type_name);
}

static inline void port_memory_free(void *memory, size_t bytes)
{
	vsmp_memory_free(memory, bytes);
}

#endif
