/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/memory.h. Tests reach its counters through host/memory.h.
 */
#ifndef HOST_HOME_PORT_HOME_MEMORY_H
#define HOST_HOME_PORT_HOME_MEMORY_H

void *host_memory_alloc(size_t bytes, unsigned node);
void host_memory_free(void *memory, size_t bytes);

static inline void *port_memory_alloc(size_t bytes, unsigned node, const char *type_name)
{
	(void)type_name;
	return host_memory_alloc(bytes, node);
}

static inline void port_memory_free(void *memory, size_t bytes)
{
	host_memory_free(memory, bytes);
}

#endif
