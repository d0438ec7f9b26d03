/* SPDX-License-Identifier: MIT */
#include "vsmp/fiber.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

/* Address space only; no function of the code that runs here has a frame as large. */
#define GUARD_BYTES ((size_t)1 << 20)

/* In fiber_switch.S: pops the registers that fiber_reset() laid out and calls the entry. */
void fiber_start(void);

int fiber_create(struct fiber *fiber, size_t stack_bytes)
{
	char *stack = mmap(NULL, stack_bytes + GUARD_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(stack, GUARD_BYTES, PROT_NONE)) {
		munmap(stack, stack_bytes + GUARD_BYTES);
		return -ENOMEM;
	}
	*fiber = (struct fiber){.stack = stack, .stack_bytes = stack_bytes + GUARD_BYTES};
	return 0;
}

void fiber_destroy(struct fiber *fiber)
{
	if (fiber->stack)
		munmap(fiber->stack, fiber->stack_bytes);
	*fiber = (struct fiber){0};
}

void fiber_reset(struct fiber *fiber, void (*entry)(void *argument), void *argument)
{
	uintptr_t *top = (uintptr_t *)((char *)fiber->stack + fiber->stack_bytes);

	/* From the top: padding, so that the entry finds the stack as the calling convention wants it, where
	 * fiber_switch() returns to, and the six registers that it pops: rbp, rbx, r12 to r15. */
	*--top = 0;
	*--top = 0;
	*--top = (uintptr_t)fiber_start;
	*--top = 0;
	*--top = (uintptr_t)argument;
	*--top = (uintptr_t)entry;
	*--top = 0;
	*--top = 0;
	*--top = 0;
	fiber->stack_pointer = top;
}

bool fiber_in_guard(const struct fiber *fiber, const void *address)
{
	return (uintptr_t)address - (uintptr_t)fiber->stack < GUARD_BYTES;
}
