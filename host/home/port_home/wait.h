/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/wait.h: a futex.
 */
#ifndef HOST_HOME_PORT_HOME_WAIT_H
#define HOST_HOME_PORT_HOME_WAIT_H

void host_wait(_Atomic uint32_t *word, uint32_t expected);
void host_wake(_Atomic uint32_t *word, unsigned count);

static inline void port_wait(_Atomic uint32_t *word, uint32_t expected)
{
	host_wait(word, expected);
}

static inline void port_wake(_Atomic uint32_t *word, unsigned count)
{
	host_wake(word, count);
}

#endif
