/* SPDX-License-Identifier: MIT */
/* Swap on files of the real machine, in memory, and compressed, through softfault.h alone. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/memory.h"
#include "softfault.h"

#define PAGE  ((uint64_t)SF_PAGE_SIZE)
#define PAGES 100u
#define RW    (SF_PROT_READ | SF_PROT_WRITE)

static struct sf_system *open_system(bool structure_only)
{
	const struct sf_options options = {
	    .memory_bytes = 4 << 20, .cpus = 1, .structure_only = structure_only};
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

static int swap_file(uint64_t bytes)
{
	char path[] = "/tmp/softfault-test.XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(file, (off_t)bytes), 0);
	return file;
}

/* The number that the next descriptor will have. */
static int next_descriptor(void)
{
	int file = open("/dev/null", O_RDONLY);

	close(file);
	return file;
}

static void fill(unsigned char *bytes, unsigned page)
{
	/* Every third page cannot be compressed. */
	uint64_t state = page + 1;

	for (unsigned i = 0; i < PAGE; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (unsigned char)(page % 3 ? i / 64 + page : state >> 56);
	}
}

/* Pages PAGES out twice, once changed in between, and finds every byte again. */
static void round_trip(struct sf_system *system)
{
	unsigned char bytes[PAGE], found[PAGE];
	struct sf_swap_statistics swap;
	struct sf_space *space;
	uint64_t base;

	assert_int_equal(sf_space_create(system, &space), 0);
	assert_int_equal(sf_map(space, 0, PAGES * PAGE, RW, SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &base), 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < PAGES; i++) {
			fill(bytes, i + round);
			assert_int_equal(sf_write(space, base + i * PAGE, bytes, PAGE, NULL), PAGE);
		}
		assert_int_equal(sf_advise(space, base, PAGES * PAGE, SF_ADVICE_PAGEOUT), 0);
		sf_swap_statistics(system, &swap);
		assert_int_equal(swap.used, PAGES);
		assert_int_equal(swap.cached, 0);
		assert_int_equal(swap.written, PAGES * (round + 1));
		for (unsigned i = 0; i < PAGES; i++) {
			fill(bytes, i + round);
			assert_int_equal(sf_read(space, base + i * PAGE, found, PAGE, NULL), PAGE);
			assert_memory_equal(found, bytes, PAGE);
		}
	}
	sf_swap_statistics(system, &swap);
	assert_int_equal(swap.read + swap.ahead, 2 * PAGES);
	assert_true(swap.ahead > swap.read);
	sf_space_destroy(space);
	sf_swap_statistics(system, &swap);
	assert_int_equal(swap.used, 0);
}

static void each_kind_keeps_every_byte(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 3; kind++) {
		struct sf_system *system = open_system(false);
		int before = next_descriptor(), file = -1, error;

		if (kind == 0) {
			file = swap_file(128 * PAGE + 100);
			error = sf_swap_add_fd(system, file, 0);
			close(file);
		} else if (kind == 1) {
			error = sf_swap_add_memory(system, 128 * PAGE + 100, 0);
		} else {
			error = sf_swap_add_compressed(system, 128 * PAGE + 100, 128 * PAGE, 0);
		}
		assert_int_equal(error, 0);
		round_trip(system);
		close_system(system);
		/* The system's own has been closed. */
		assert_int_equal(next_descriptor(), before);
	}
}

/* What has no room in compressed memory stays in RAM. */
static void compressed_memory_is_limited(void **state)
{
	struct sf_system *system = open_system(false);
	unsigned char bytes[PAGE], found[PAGE];
	struct sf_swap_statistics swap;
	struct sf_space *space;
	uint64_t base;

	(void)state;
	assert_int_equal(sf_swap_add_compressed(system, 256 * PAGE, 16 * PAGE, 0), 0);
	assert_int_equal(sf_space_create(system, &space), 0);
	assert_int_equal(sf_map(space, 0, PAGES * PAGE, RW, SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &base), 0);
	for (unsigned i = 0; i < PAGES; i++) {
		fill(bytes, 3 * i);
		assert_int_equal(sf_write(space, base + i * PAGE, bytes, PAGE, NULL), PAGE);
	}
	assert_int_equal(sf_advise(space, base, PAGES * PAGE, SF_ADVICE_PAGEOUT), 0);
	sf_swap_statistics(system, &swap);
	assert_in_range(swap.written, 1, 16);
	for (unsigned i = 0; i < PAGES; i++) {
		fill(bytes, 3 * i);
		assert_int_equal(sf_read(space, base + i * PAGE, found, PAGE, NULL), PAGE);
		assert_memory_equal(found, bytes, PAGE);
	}
	sf_space_destroy(space);
	close_system(system);
}

static void what_cannot_be_is_refused(void **state)
{
	struct sf_system *system = open_system(false), *structure = NULL;
	int file = swap_file(0), null = open("/dev/null", O_RDWR), error = -ENOMEM;

	(void)state;
	assert_int_equal(sf_swap_add_fd(system, -1, 0), -EBADF);
	assert_int_equal(sf_swap_add_fd(system, null, 0), -EINVAL);
	assert_int_equal(sf_swap_add_fd(system, file, 0), -EINVAL);
	assert_int_equal(ftruncate(file, 4 * (off_t)PAGE), 0);
	assert_int_equal(sf_swap_add_compressed(system, 4 * PAGE, 16383, 0), -EINVAL);
	assert_int_equal(sf_swap_add_compressed(system, PAGE - 1, 16384, 0), -EINVAL);
	assert_int_equal(sf_swap_add_memory(system, 0, 0), -EINVAL);
	for (unsigned good = 0; error; good++) {
		host_memory_fail_after(good);
		error = sf_swap_add_fd(system, file, 0);
		host_memory_fail_never();
		assert_true(!error || error == -ENOMEM);
		assert_true(good >= 4 || error);
	}
	for (unsigned kind = 0; kind < 2; kind++) {
		error = -ENOMEM;
		for (unsigned good = 0; error; good++) {
			host_memory_fail_after(good);
			error = kind ? sf_swap_add_memory(system, 4 * PAGE, 0)
				     : sf_swap_add_compressed(system, 4 * PAGE, 16384, 0);
			host_memory_fail_never();
			assert_true(!error || error == -ENOMEM);
			assert_true(good >= 4 || error);
		}
	}
	close_system(system);
	structure = open_system(true);
	assert_int_equal(sf_swap_add_fd(structure, file, 0), -EINVAL);
	assert_int_equal(sf_swap_add_compressed(structure, 4 * PAGE, 16384, 0), -EINVAL);
	assert_int_equal(sf_swap_add_memory(structure, 4 * PAGE, 0), 0);
	close_system(structure);
	close(file);
	close(null);
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_kind_keeps_every_byte),
	    cmocka_unit_test(compressed_memory_is_limited),
	    cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
