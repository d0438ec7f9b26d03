/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/spin.h. Threads can outnumber processors, so whoever holds what we wait for
 * may not be running: a waiter pauses for a short while and then yields.
 */
#ifndef HOST_HOME_PORT_HOME_SPIN_H
#define HOST_HOME_PORT_HOME_SPIN_H

#include <stdatomic.h>

#include "port/cpu.h"

#define HOST_SPIN_UNTIL(type)                                                               \
	type seen;                                                                          \
                                                                                            \
	while (((seen = atomic_load_explicit(word, memory_order_acquire)) & mask) != value) \
		port_cpu_relax();                                                           \
	return seen

static inline uint16_t port_spin_until_u16(const _Atomic uint16_t *word, uint16_t mask, uint16_t value)
{
	HOST_SPIN_UNTIL(uint16_t);
}

static inline uint32_t port_spin_until_u32(const _Atomic uint32_t *word, uint32_t mask, uint32_t value)
{
	HOST_SPIN_UNTIL(uint32_t);
}

static inline uint64_t port_spin_until_u64(const _Atomic uint64_t *word, uint64_t mask, uint64_t value)
{
	HOST_SPIN_UNTIL(uint64_t);
}

#undef HOST_SPIN_UNTIL

#endif
