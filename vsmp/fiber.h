/* SPDX-License-Identifier: MIT */
/*
 * Fibers: stacks that one thread switches between. Saving only what the x86-64 calling convention says a
 * callee must keep makes a switch some tens of nanoseconds, against some hundreds for swapcontext(3), which
 * makes a system call.
 */
#ifndef VSMP_FIBER_H
#define VSMP_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct fiber {
	void *stack_pointer; /* while it does not run */
	void *stack;         /* NULL: the thread's own */
	size_t stack_bytes;
};

/* Gives `fiber` a stack with a guard page below. Returns 0 or -ENOMEM. */
int fiber_create(struct fiber *fiber, size_t stack_bytes);
void fiber_destroy(struct fiber *fiber);

/* True when `address` lies in the guard below the fiber's stack: it ran over. */
bool fiber_in_guard(const struct fiber *fiber, const void *address);

/* Makes the next switch to `fiber` call entry(argument) on an empty stack. `entry` must never return. */
void fiber_reset(struct fiber *fiber, void (*entry)(void *argument), void *argument);

/* Saves the running fiber in `from` and goes on with `to`. Returns when something switches back to `from`. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
