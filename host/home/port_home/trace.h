/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/trace.h: nobody listens.
 */
#ifndef HOST_HOME_PORT_HOME_TRACE_H
#define HOST_HOME_PORT_HOME_TRACE_H

static inline void port_scope_begin(const char *name)
{
	(void)name;
}

static inline void port_scope_end(void)
{
}

static inline void port_lock_contended(const void *lock, const char *name, int shared)
{
	(void)lock;
	(void)name;
	(void)shared;
}

static inline void port_lock_acquired(const void *lock, const char *name, int shared)
{
	(void)lock;
	(void)name;
	(void)shared;
}

static inline void port_lock_released(const void *lock, const char *name, int shared)
{
	(void)lock;
	(void)name;
	(void)shared;
}

#endif
