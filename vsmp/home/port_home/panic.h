/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_PANIC_H
#define PORT_HOME_PANIC_H

/* vsmp/cpu.c. */
_Noreturn void vsmp_panic(const char *file, int line, const char *text);

_Noreturn static inline void port_panic(const char *file, int line, const char *text)
{
	vsmp_panic(file, line, text);
}

#endif
