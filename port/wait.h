/* SPDX-License-Identifier: MIT */
/*
 * Contract: sleeping on a 32-bit word and waking the sleepers, as futex(2) does it.
 */
#ifndef PORT_WAIT_H
#define PORT_WAIT_H

#include <stdint.h>

/*
 * Sleeps while *word == expected. Returns when woken, when the word differed, or for no reason at all: the
 * caller looks again. The compare and the falling asleep are one step for port_wake(). No spinning lock may
 * be held.
 */
static inline void port_wait(_Atomic uint32_t *word, uint32_t expected);

/* Wakes at most `count` sleepers of `word`, those that have slept longest first. Locks may be held. */
static inline void port_wake(_Atomic uint32_t *word, unsigned count);

#include <port_home/wait.h>

#endif
