/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_TRACE_H
#define PORT_HOME_TRACE_H

#include "vsmp/home/inline.h"

/* vsmp/trace.c. */
void vsmp_scope_begin(const char *name);
void vsmp_scope_end(void);
void vsmp_lock_contended(const void *lock, const char *name, int shared);
void vsmp_lock_acquired(const void *lock, const char *name, int shared);
void vsmp_lock_released(const void *lock, const char *name, int shared);

PORT_HOME_INLINE void port_scope_begin(const char *name)
{
	vsmp_scope_begin(name);
}

PORT_HOME_INLINE void port_scope_end(void)
{
	vsmp_scope_end();
}

PORT_HOME_INLINE void port_lock_contended(const void *lock, const char *name, int shared)
{
	vsmp_lock_contended(lock, name, shared);
}

PORT_HOME_INLINE void port_lock_acquired(const void *lock, const char *name, int shared)
{
	vsmp_lock_acquired(lock, name, shared);
}

PORT_HOME_INLINE void port_lock_released(const void *lock, const char *name, int shared)
{
	vsmp_lock_released(lock, name, shared);
}

#endif
