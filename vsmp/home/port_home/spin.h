/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_SPIN_H
#define PORT_HOME_SPIN_H

#include "vsmp/home/inline.h"

#include <stdint.h>

/* vsmp/spinning.c. */
uint64_t spinning_until(const void *word, unsigned bytes, uint64_t mask, uint64_t value);

PORT_HOME_INLINE uint16_t port_spin_until_u16(const _Atomic uint16_t *word, uint16_t mask, uint16_t value)
{
	return (uint16_t)spinning_until((const void *)word, 2, mask, value);
}

PORT_HOME_INLINE uint32_t port_spin_until_u32(const _Atomic uint32_t *word, uint32_t mask, uint32_t value)
{
	return (uint32_t)spinning_until((const void *)word, 4, mask, value);
}

PORT_HOME_INLINE uint64_t port_spin_until_u64(const _Atomic uint64_t *word, uint64_t mask, uint64_t value)
{
	return spinning_until((const void *)word, 8, mask, value);
}

#endif
