/* SPDX-License-Identifier: MIT */
/*
 * Files of the real machine, through softfault.h alone: which descriptors do, and what fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/memory.h"
#include "softfault.h"

#define PAGE ((uint64_t)SF_PAGE_SIZE)

static int temporary_file(void)
{
	char path[] = "/tmp/softfault-test.XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(unlink(path), 0);
	return file;
}

static struct sf_system *open_system(void)
{
	const struct sf_options options = {.memory_bytes = 4 << 20, .cpus = 1};
	struct sf_system *system;

	assert_int_equal(sf_system_create(&options, &system, NULL), 0);
	assert_int_equal(sf_thread_enter(system), 0);
	return system;
}

static void close_system(struct sf_system *system)
{
	const char *reason;

	if (sf_system_check(system, &reason))
		fail_msg("%s", reason);
	sf_thread_exit(system);
	sf_system_destroy(system);
}

/* The number that the next descriptor will have. */
static int next_descriptor(void)
{
	int file = open("/dev/null", O_RDONLY);

	close(file);
	return file;
}

static void assert_refused(struct sf_system *system, int file, int error)
{
	struct sf_object *none;

	assert_int_equal(sf_file_open_fd(system, file, &none), error);
	close(file);
}

static void what_cannot_be_is_refused(void **state)
{
	struct sf_system *system = open_system();
	struct sf_object *object = NULL;
	int file = temporary_file(), direct = temporary_file(), ends[2], error;
	char path[40];
	struct rlimit before, limit;
	int next = next_descriptor();

	(void)state;
	assert_refused(system, -1, -EBADF);
	assert_int_equal(pipe(ends), 0);
	assert_refused(system, ends[0], -EACCES);
	close(ends[1]);
	assert_refused(system, open("/tmp", O_RDONLY), -EACCES);
	assert_refused(system, open("/dev/null", O_RDWR), -EINVAL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	assert_refused(system, open(path, O_RDONLY), -EACCES);
	assert_refused(system, open(path, O_WRONLY), -EACCES);
	assert_refused(system, open(path, O_RDWR | O_APPEND), -EINVAL);
	/* Not every file system can. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", direct);
	error = open(path, O_RDWR | O_DIRECT);
	if (error >= 0)
		assert_refused(system, error, -EINVAL);
	close(direct);

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	/* All that is lower was taken when `file` was opened. */
	limit.rlim_cur = (rlim_t)file + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	error = sf_file_open_fd(system, file, &object);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(error, -EMFILE);

	/* Each allocation that it makes. */
	for (unsigned good = 0; error; good++) {
		host_memory_fail_after(good);
		error = sf_file_open_fd(system, file, &object);
		host_memory_fail_never();
		assert_true(!error || error == -ENOMEM);
		assert_true(good >= 2 || error);
	}
	/* The object has the place of `direct`; those of the tries that failed are closed. */
	assert_int_equal(next_descriptor(), next);
	close(file);
	assert_int_equal(sf_object_write(object, PAGE, "x", 1), 1);
	assert_int_equal(sf_object_sync(object), 0);
	sf_object_close(object);
	close_system(system);
	assert_int_equal(next_descriptor(), file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
