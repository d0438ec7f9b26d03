/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_LIFETIME_H
#define PORT_HOME_LIFETIME_H

#include "vsmp/home/inline.h"

/* vsmp/explore/lifetime.c. They take no time and are no accesses. */
int vsmp_memory_watched(void);
void vsmp_memory_dead(const void *memory, size_t bytes, const char *what);
void vsmp_memory_alive(const void *memory, size_t bytes);

PORT_HOME_INLINE int port_memory_watched(void)
{
	return vsmp_memory_watched();
}

PORT_HOME_INLINE void port_memory_dead(const void *memory, size_t bytes, const char *what)
{
	vsmp_memory_dead(memory, bytes, what);
}

PORT_HOME_INLINE void port_memory_alive(const void *memory, size_t bytes)
{
	vsmp_memory_alive(memory, bytes);
}

#endif
