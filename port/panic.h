/* SPDX-License-Identifier: MIT */
/*
 * Contract: what happens when an invariant is broken.
 */
#ifndef PORT_PANIC_H
#define PORT_PANIC_H

#include "base/compiler.h"

/* Prints the text and where the caller stands, then ends the program. Only for a broken invariant. */
_Noreturn static inline void port_panic(const char *file, int line, const char *text);

/* Ends the program unless `condition` holds; always checked, in every build. */
#define invariant(condition)                                        \
	do {                                                        \
		if (unlikely(!(condition)))                         \
			port_panic(__FILE__, __LINE__, #condition); \
	} while (0)

/* The same for what a caller from outside must have seen to: `text` is the sentence that tells it. */
#define precondition(condition, text)                         \
	do {                                                  \
		if (unlikely(!(condition)))                   \
			port_panic(__FILE__, __LINE__, text); \
	} while (0)

#include <port_home/panic.h>

#endif
