/* SPDX-License-Identifier: MIT */
/*
 * The compiler's hooks for atomic accesses. Each takes its exact turn in virtual time, and is then made:
 * since CPUs run one at a time, executions are sequentially consistent whatever order the code asks for.
 */
#include "vsmp/access.h"
#include "vsmp/hooks/names.h"

#define MODIFY(bits, name, builtin)                                                                         \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, \
						    int order)                                              \
	{                                                                                                   \
		(void)order;                                                                                \
		access_memory((uintptr_t)address, bits / 8, ACCESS_WRITE, true);                            \
		return builtin(address, value, __ATOMIC_SEQ_CST);                                           \
	}

#define COMPARE(bits, name)                                                                                 \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *address, void *expected, \
							  uint##bits##_t desired, int success, int failure) \
	{                                                                                                   \
		(void)success;                                                                              \
		(void)failure;                                                                              \
		access_memory((uintptr_t)address, bits / 8, ACCESS_WRITE, true);                            \
		return __atomic_compare_exchange_n(address, (uint##bits##_t *)expected, desired, 0,         \
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
	}

#define ATOMIC(bits)                                                                                        \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)        \
	{                                                                                                   \
		(void)order;                                                                                \
		access_memory((uintptr_t)address, bits / 8, ACCESS_READ, false);                            \
		return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                          \
	}                                                                                                   \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order) \
	{                                                                                                   \
		(void)order;                                                                                \
		access_memory((uintptr_t)address, bits / 8, ACCESS_WRITE, false);                           \
		__atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                         \
	}                                                                                                   \
	MODIFY(bits, exchange, __atomic_exchange_n)                                                         \
	MODIFY(bits, fetch_add, __atomic_fetch_add)                                                         \
	MODIFY(bits, fetch_sub, __atomic_fetch_sub)                                                         \
	MODIFY(bits, fetch_and, __atomic_fetch_and)                                                         \
	MODIFY(bits, fetch_or, __atomic_fetch_or)                                                           \
	MODIFY(bits, fetch_xor, __atomic_fetch_xor)                                                         \
	MODIFY(bits, fetch_nand, __atomic_fetch_nand)                                                       \
	COMPARE(bits, strong)                                                                               \
	COMPARE(bits, weak)                                                                                 \
	/* clang's form: the value that was there comes back. */                                            \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                          \
	    volatile uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t desired, int success, \
	    int failure)                                                                                    \
	{                                                                                                   \
		__tsan_atomic##bits##_compare_exchange_strong(address, &expected, desired, success,         \
							      failure);                                     \
		return expected;                                                                            \
	}

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	if (current)
		current->clock += current->atomic_hit_cycles;
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
