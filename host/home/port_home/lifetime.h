/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/lifetime.h: the address sanitizer, in builds that have it, else nothing.
 */
#ifndef HOST_HOME_PORT_HOME_LIFETIME_H
#define HOST_HOME_PORT_HOME_LIFETIME_H

/* gcc defines the macro, clang has the feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HOST_ADDRESS_SANITIZER 1
#endif

#ifdef HOST_ADDRESS_SANITIZER

#include <sanitizer/asan_interface.h>

static inline int port_memory_watched(void)
{
	return 1;
}

static inline void port_memory_dead(const void *memory, size_t bytes, const char *what)
{
	(void)what;
	ASAN_POISON_MEMORY_REGION(memory, bytes);
}

static inline void port_memory_alive(const void *memory, size_t bytes)
{
	ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
}

#else

static inline int port_memory_watched(void)
{
	return 0;
}

static inline void port_memory_dead(const void *memory, size_t bytes, const char *what)
{
	(void)memory;
	(void)bytes;
	(void)what;
}

static inline void port_memory_alive(const void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
}

#endif

#endif
