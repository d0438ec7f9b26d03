/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/panic.h.
 */
#ifndef HOST_HOME_PORT_HOME_PANIC_H
#define HOST_HOME_PORT_HOME_PANIC_H

_Noreturn void host_panic(const char *file, int line, const char *text);

_Noreturn static inline void port_panic(const char *file, int line, const char *text)
{
	host_panic(file, line, text);
}

#endif
