/* SPDX-License-Identifier: MIT */
/*
 * The hooks' prototypes: no header of the compiler declares them.
 */
#ifndef VSMP_HOOKS_NAMES_H
#define VSMP_HOOKS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define HOOK_PLAIN(bytes)                                 \
	void __tsan_read##bytes(void *address);           \
	void __tsan_write##bytes(void *address);          \
	void __tsan_volatile_read##bytes(void *address);  \
	void __tsan_volatile_write##bytes(void *address); \
	void __tsan_unaligned_read##bytes(void *address); \
	void __tsan_unaligned_write##bytes(void *address);

HOOK_PLAIN(1)
HOOK_PLAIN(2)
HOOK_PLAIN(4)
HOOK_PLAIN(8)
HOOK_PLAIN(16)

#define HOOK_MODIFY(bits, name)                                                                             \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, \
						    int order);

#define HOOK_ATOMIC(bits)                                                                                    \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order);        \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order); \
	HOOK_MODIFY(bits, exchange)                                                                          \
	HOOK_MODIFY(bits, fetch_add)                                                                         \
	HOOK_MODIFY(bits, fetch_sub)                                                                         \
	HOOK_MODIFY(bits, fetch_and)                                                                         \
	HOOK_MODIFY(bits, fetch_or)                                                                          \
	HOOK_MODIFY(bits, fetch_xor)                                                                         \
	HOOK_MODIFY(bits, fetch_nand)                                                                        \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *address, void *expected,  \
							  uint##bits##_t desired, int success, int failure); \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *address, void *expected,    \
							uint##bits##_t desired, int success, int failure);   \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                           \
	    volatile uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t desired, int success,  \
	    int failure);

HOOK_ATOMIC(8)
HOOK_ATOMIC(16)
HOOK_ATOMIC(32)
HOOK_ATOMIC(64)

void __tsan_read_range(void *address, unsigned long bytes);
void __tsan_write_range(void *address, unsigned long bytes);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

/* clang calls these for memory functions; gcc's calls come by vsmp/home/memory_functions.h. */
void *__tsan_memset(void *memory, int byte, size_t bytes);
void *__tsan_memcpy(void *target, const void *source, size_t bytes);
void *__tsan_memmove(void *target, const void *source, size_t bytes);

#endif
