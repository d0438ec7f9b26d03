/* SPDX-License-Identifier: MIT */
/*
 * Contract: waiting, without sleeping, for a word to take a value. One place decides how a machine spins: the
 * real one pauses and then yields its thread (threads can outnumber CPUs), the virtual one parks the CPU on
 * the cache line and runs it again only once a write has made the condition true.
 */
#ifndef PORT_SPIN_H
#define PORT_SPIN_H

#include <stdint.h>

/*
 * Waits until (*word & mask) == value, and returns *word as it was then. The load that sees it has acquire
 * order. The caller may hold spinning locks; it may not be in an RCU read section that the writer waits for.
 */
static inline uint16_t port_spin_until_u16(const _Atomic uint16_t *word, uint16_t mask, uint16_t value);
static inline uint32_t port_spin_until_u32(const _Atomic uint32_t *word, uint32_t mask, uint32_t value);
static inline uint64_t port_spin_until_u64(const _Atomic uint64_t *word, uint64_t mask, uint64_t value);

#include <port_home/spin.h>

#endif
