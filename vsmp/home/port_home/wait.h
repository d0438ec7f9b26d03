/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_WAIT_H
#define PORT_HOME_WAIT_H

#include "vsmp/home/inline.h"

#include <stdint.h>

/* vsmp/wait.c. */
void vsmp_wait(const void *word, uint32_t expected);
void vsmp_wake(const void *word, unsigned count);

PORT_HOME_INLINE void port_wait(_Atomic uint32_t *word, uint32_t expected)
{
	vsmp_wait((const void *)word, expected);
}

PORT_HOME_INLINE void port_wake(_Atomic uint32_t *word, unsigned count)
{
	vsmp_wake((const void *)word, count);
}

#endif
