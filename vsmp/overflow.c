/* SPDX-License-Identifier: MIT */
#include "vsmp/overflow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/core.h"
#include "vsmp/observe/observe.h"

#define STACK_BYTES (64u << 10)

static void *stack;
static stack_t stack_before;
static struct sigaction action_before;

/* The program ends here: what is not safe in a signal handler can do no more harm. */
static void on_fault(int number, siginfo_t *information, void *context)
{
	(void)context;
	if (machine && current && fiber_in_guard(&current->fiber, information->si_addr)) {
		fprintf(stderr, "softfault: simulated CPU %u ran over its stack, in:\n", current->id);
		observe_print_stack(current->id, stderr, "    ");
		abort();
	}
	/* The faulting instruction is executed again, and then handled as it would have been; a signal that
	 * somebody sent has no such instruction. */
	sigaction(number, &action_before, NULL);
	if (information->si_code <= 0)
		raise(number);
}

int overflow_open(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t alternate = {.ss_size = STACK_BYTES};

	stack = malloc(STACK_BYTES);
	if (!stack)
		return -ENOMEM;
	alternate.ss_sp = stack;
	if (sigaltstack(&alternate, &stack_before) || sigaction(SIGSEGV, &action, &action_before)) {
		free(stack);
		stack = NULL;
		return -errno;
	}
	return 0;
}

void overflow_close(void)
{
	if (!stack)
		return;
	sigaction(SIGSEGV, &action_before, NULL);
	sigaltstack(&stack_before, NULL);
	free(stack);
	stack = NULL;
}
