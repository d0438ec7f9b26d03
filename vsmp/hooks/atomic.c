/* SPDX-License-Identifier: MIT */
/*
 * The compiler's hooks for atomic accesses. Each takes its exact turn in virtual time, and is then made:
 * since CPUs run one at a time, executions are sequentially consistent whatever order the code asks for. Only
 * a machine that explores looks at the order.
 */
#include "vsmp/access.h"
#include "vsmp/explore/quiet.h"
#include "vsmp/hooks/names.h"

#define PC __builtin_return_address(0)

/* The access is about to be made by a machine that explores. */
static __attribute__((noinline)) void explore(struct explore_access *access, const volatile void *address,
					      unsigned bytes, enum explore_event event, int order,
					      const void *pc)
{
	*access = (struct explore_access){(uintptr_t)address, bytes, event, order, pc};
	explore_turn(access);
	explore_before_atomic(access);
}

#define MODIFY(bits, name, builtin)                                                                         \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, \
						    int order)                                              \
	{                                                                                                   \
		struct explore_access access;                                                               \
		uint##bits##_t before;                                                                      \
                                                                                                            \
		if (unlikely(exploring)) {                                                                  \
			explore(&access, address, bits / 8, EXPLORE_MODIFY, order, PC);                     \
			before = builtin(address, value, __ATOMIC_SEQ_CST);                                 \
			explore_after_atomic(&access, *address);                                            \
			return before;                                                                      \
		}                                                                                           \
		access_memory((uintptr_t)address, bits / 8, ACCESS_WRITE, true);                            \
		return builtin(address, value, __ATOMIC_SEQ_CST);                                           \
	}

/* What others do in its turn decides whether it succeeds; one that does not is a load. */
#define EXPLORE_COMPARE(bits)                                                                                \
	static __attribute__((noinline)) int explore_compare##bits(                                          \
	    volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired, int success, \
	    int failure, const void *pc)                                                                     \
	{                                                                                                    \
		struct explore_access access = {(uintptr_t)address, bits / 8, EXPLORE_MODIFY, success, pc};  \
		int done;                                                                                    \
                                                                                                             \
		explore_turn(&access);                                                                       \
		if (*address != *expected) {                                                                 \
			access.event = EXPLORE_LOAD;                                                         \
			access.order = failure;                                                              \
		}                                                                                            \
		explore_before_atomic(&access);                                                              \
		done = __atomic_compare_exchange_n(address, expected, desired, 0, __ATOMIC_SEQ_CST,          \
						   __ATOMIC_SEQ_CST);                                        \
		explore_after_atomic(&access, *address);                                                     \
		return done;                                                                                 \
	}

#define COMPARE(bits, name)                                                                                 \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *address, void *expected, \
							  uint##bits##_t desired, int success, int failure) \
	{                                                                                                   \
		if (unlikely(exploring))                                                                    \
			return explore_compare##bits(address, expected, desired, success, failure, PC);     \
		access_memory((uintptr_t)address, bits / 8, ACCESS_WRITE, true);                            \
		return __atomic_compare_exchange_n(address, (uint##bits##_t *)expected, desired, 0,         \
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
	}

#define ATOMIC(bits)                                                                                        \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)        \
	{                                                                                                   \
		struct explore_access access;                                                               \
		uint##bits##_t value;                                                                       \
                                                                                                            \
		if (unlikely(exploring)) {                                                                  \
			if (explore_known_alive((uintptr_t)address, bits / 8))                              \
				return *address;                                                            \
			explore(&access, address, bits / 8, EXPLORE_LOAD, order, PC);                       \
			value = *address;                                                                   \
			explore_after_atomic(&access, value);                                               \
			return value;                                                                       \
		}                                                                                           \
		access_memory((uintptr_t)address, bits / 8, ACCESS_READ, false);                            \
		return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                          \
	}                                                                                                   \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order) \
	{                                                                                                   \
		struct explore_access access;                                                               \
                                                                                                            \
		if (unlikely(exploring)) {                                                                  \
			explore(&access, address, bits / 8, EXPLORE_STORE, order, PC);                      \
			*address = value;                                                                   \
			explore_after_atomic(&access, value);                                               \
			return;                                                                             \
		}                                                                                           \
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
	EXPLORE_COMPARE(bits)                                                                               \
	COMPARE(bits, strong)                                                                               \
	COMPARE(bits, weak)                                                                                 \
	/* clang's form: the value that was there comes back. */                                            \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                          \
	    volatile uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t desired, int success, \
	    int failure)                                                                                    \
	{                                                                                                   \
		if (unlikely(exploring)) {                                                                  \
			explore_compare##bits(address, &expected, desired, success, failure, PC);           \
			return expected;                                                                    \
		}                                                                                           \
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
	if (accessor)
		accessor->clock += accessor->atomic_hit_cycles;
	else if (exploring)
		explore_fence(order, PC);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
