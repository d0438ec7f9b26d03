/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port/wait.h"

/*
 * Every failure of FUTEX_WAIT that can happen here (EAGAIN: the word differs, EINTR: a signal) is one of the
 * contract's reasons to return, and the caller looks again. errno is kept: a fault may run in a signal
 * handler.
 */
void host_wait(_Atomic uint32_t *word, uint32_t expected)
{
	int saved_errno = errno;

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
	errno = saved_errno;
}

void host_wake(_Atomic uint32_t *word, unsigned count)
{
	int saved_errno = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count < INT_MAX ? count : INT_MAX, NULL, NULL, 0);
	errno = saved_errno;
}
