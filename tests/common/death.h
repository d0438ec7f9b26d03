/* SPDX-License-Identifier: MIT */
/*
 * Tests that a broken invariant ends the program and says what it should.
 */
#ifndef TESTS_COMMON_DEATH_H
#define TESTS_COMMON_DEATH_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * Runs body(argument) in a child process and asserts that it is aborted, with both texts on its standard
 * error. The caller has no machine open, so that the child can open one: only its own threads live in it.
 */
static inline void expect_death(void (*body)(void *argument), void *argument, const char *text,
				const char *other_text)
{
	char output[16384];
	size_t length = 0;
	ssize_t got;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit no_core = {0, 0};

		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		body(argument);
		_exit(0);
	}
	close(ends[1]);
	while (length + 1 < sizeof(output) &&
	       (got = read(ends[0], output + length, sizeof(output) - 1 - length)) > 0)
		length += (size_t)got;
	output[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(output, text) ||
	    !strstr(output, other_text))
		fail_msg("wanted an abort with \"%s\" and \"%s\", got status %#x and:\n%s", text, other_text,
			 (unsigned)status, output);
}

#endif
