/* SPDX-License-Identifier: MIT */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "port/panic.h"

#define STACK_DEPTH_MAX 64

_Noreturn void host_panic(const char *file, int line, const char *text)
{
	void *stack[STACK_DEPTH_MAX];

	/* dprintf and backtrace_symbols_fd write at once: nothing of the report waits in a buffer. */
	dprintf(STDERR_FILENO, "softfault: %s:%d: broken invariant: %s\n", file, line, text);
	backtrace_symbols_fd(stack, backtrace(stack, STACK_DEPTH_MAX), STDERR_FILENO);
	abort();
}
