/* SPDX-License-Identifier: MIT */
/*
 * Files of the real machine as backings: random use of one, through mappings and by offset, held against an
 * array and at the end against the file's own bytes; and what becomes of its system calls' failures, which
 * this program puts in the C library's place.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "softfault.h"

#define PAGE    ((uint64_t)SF_PAGE_SIZE)
#define PAGES   48u
#define BYTES   (PAGES * PAGE)
#define RW      (SF_PROT_READ | SF_PROT_WRITE)
#define HERE    ((uint64_t)1 << 30)
#define THERE   (HERE + 1024 * PAGE) /* the same from page 3 on */
#define PRIVATE (HERE + 2048 * PAGE)
#define SHIFT   3u

/* --- The system calls ---------------------------------------------------------------------------------- */

static struct {
	struct random random;
	bool breaks_up; /* now and then a transfer is short, or nothing but interrupted */
	unsigned every; /* each so many-th call fails, 0: none */
	unsigned calls;
	int error;
	unsigned short_ones, interrupted, failed, syncs;
} calls;

static bool call_fails(void)
{
	if (calls.every && ++calls.calls % calls.every == 0) {
		calls.failed++;
		errno = calls.error;
		return true;
	}
	if (calls.breaks_up && random_below(&calls.random, 4) == 0) {
		calls.interrupted++;
		errno = EINTR;
		return true;
	}
	return false;
}

/* Does less than it was asked to: some vectors, or a part of the first. */
static ssize_t transfer(long number, int file, const struct iovec *vector, int count, off_t offset)
{
	struct iovec part = vector[0];

	if (call_fails())
		return -1;
	if (calls.breaks_up && random_below(&calls.random, 2)) {
		calls.short_ones++;
		if (count > 1 && random_below(&calls.random, 2)) {
			count = 1 + (int)random_below(&calls.random, (unsigned)count);
		} else {
			part.iov_len = 1 + random_below(&calls.random, part.iov_len);
			vector = &part;
			count = 1;
		}
	}
	return syscall(number, file, vector, count, offset, 0);
}

ssize_t preadv(int file, const struct iovec *vector, int count, off_t offset)
{
	return transfer(SYS_preadv, file, vector, count, offset);
}

ssize_t pwritev(int file, const struct iovec *vector, int count, off_t offset)
{
	return transfer(SYS_pwritev, file, vector, count, offset);
}

int ftruncate(int file, off_t bytes)
{
	return call_fails() ? -1 : (int)syscall(SYS_ftruncate, file, bytes);
}

int fallocate(int file, int mode, off_t offset, off_t bytes)
{
	return call_fails() ? -1 : (int)syscall(SYS_fallocate, file, mode, offset, bytes);
}

/* Not worth the disk's time. */
int fdatasync(int file)
{
	calls.syncs++;
	return call_fails() ? -1 : fcntl(file, F_GETFD) < 0 ? -1 : 0;
}

/* --- A file and its mappings --------------------------------------------------------------------------- */

static struct {
	int file;
	struct sf_system *system;
	struct sf_space *space[2];
	struct sf_object *object;
	struct random random;

	/* What must be found. */
	unsigned char bytes[BYTES];
	uint64_t size;
	unsigned char copy[BYTES];
	bool copied[PAGES];
	unsigned refused;
} all;

static uint64_t below(uint64_t end)
{
	return random_below(&all.random, end);
}

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

static void map(struct sf_space *space, uint64_t at, int flags, uint64_t first)
{
	uint64_t mapped;

	assert_int_equal(sf_map_object(space, at, (PAGES - first) * PAGE, RW, flags | SF_MAP_FIXED,
				       all.object, first * PAGE, &mapped),
			 0);
}

static void open_all(uint64_t seed)
{
	random_seed(&all.random, seed);
	random_seed(&calls.random, seed + 1);
	calls.every = calls.calls = calls.failed = 0;
	calls.breaks_up = false;
	all.file = temporary_file();
	all.size = below(BYTES);
	all.refused = 0;
	memset(all.bytes, 0, sizeof(all.bytes));
	memset(all.copied, 0, sizeof(all.copied));
	for (uint64_t i = 0; i < all.size; i++)
		all.bytes[i] = (unsigned char)below(256);
	assert_int_equal(pwrite(all.file, all.bytes, all.size, 0), all.size);
	all.system = open_system();
	assert_int_equal(sf_file_open_fd(all.system, all.file, &all.object), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(sf_space_create(all.system, &all.space[i]), 0);
		map(all.space[i], HERE, SF_MAP_SHARED, 0);
		map(all.space[i], THERE, SF_MAP_SHARED, SHIFT);
	}
	map(all.space[0], PRIVATE, SF_MAP_PRIVATE, 0);
}

static void assert_file_holds_all(void)
{
	static unsigned char found[BYTES];
	struct stat status;

	assert_int_equal(fstat(all.file, &status), 0);
	assert_int_equal(status.st_size, all.size);
	assert_int_equal(pread(all.file, found, BYTES, 0), all.size);
	assert_memory_equal(found, all.bytes, all.size);
}

static void close_all(void)
{
	calls.every = 0;
	/* What failed, and has not been told; and then the bytes are still there to be written. */
	(void)sf_object_sync(all.object);
	assert_int_equal(sf_object_sync(all.object), 0);
	assert_file_holds_all();
	sf_space_destroy(all.space[0]);
	sf_object_close(all.object);
	sf_space_destroy(all.space[1]);
	assert_file_holds_all();
	close_system(all.system);
	close(all.file);
}

/* --- One operation ------------------------------------------------------------------------------------- */

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE;
}

static void assert_refusal(int64_t error)
{
	all.refused++;
	assert_true(calls.every);
	assert_int_equal(error, -calls.error);
}

/* The page of a touch that was refused is not there, and nothing maps it. */
static void assert_refused_touch(struct sf_space *space, uint64_t address, uint64_t index,
				 const struct sf_signal *signal)
{
	unsigned char resident = 0;

	assert_int_equal(signal->signal, SIGBUS);
	assert_int_equal(signal->code, BUS_ADRERR);
	assert_int_equal(signal->address, address);
	if (index >= pages_of(all.size))
		return;
	assert_refusal(-calls.error);
	assert_int_equal(sf_mincore(space, address - address % PAGE, PAGE, &resident), 0);
	assert_int_equal(resident & 1, 0);
}

/* A byte below the size, or in a page beyond. */
static uint64_t some_byte(void)
{
	uint64_t at = below(BYTES);

	return at >= all.size && at / PAGE < pages_of(all.size) ? all.size - 1 : at;
}

static void use_shared(void)
{
	struct sf_space *space = all.space[below(2)];
	uint64_t at = some_byte(), page = at / PAGE;
	uint64_t address = page >= SHIFT && below(2) ? THERE + at - SHIFT * PAGE : HERE + at;
	unsigned char value = (unsigned char)below(256);
	struct sf_signal signal = {0};

	/* A touch may come from a signal handler. */
	errno = EDOM;
	if (below(2)) {
		if (sf_write(space, address, &value, 1, &signal))
			all.bytes[at] = value;
		else
			assert_refused_touch(space, address, page, &signal);
	} else if (sf_read(space, address, &value, 1, &signal)) {
		assert_int_equal(value, all.bytes[at]);
	} else {
		assert_refused_touch(space, address, page, &signal);
	}
	assert_int_equal(errno, EDOM);
	if (!signal.signal)
		assert_true(page < pages_of(all.size));
}

static void use_private(void)
{
	uint64_t at = some_byte(), page = at / PAGE;
	unsigned char value = (unsigned char)below(256);
	struct sf_signal signal = {0};

	if (below(2)) {
		if (sf_read(all.space[0], PRIVATE + at, &value, 1, &signal))
			assert_int_equal(value, all.copied[page] ? all.copy[at] : all.bytes[at]);
		else
			assert_refused_touch(all.space[0], PRIVATE + at, page, &signal);
		return;
	}
	if (!sf_write(all.space[0], PRIVATE + at, &value, 1, &signal)) {
		assert_refused_touch(all.space[0], PRIVATE + at, page, &signal);
		return;
	}
	if (!all.copied[page])
		memcpy(all.copy + page * PAGE, all.bytes + page * PAGE, PAGE);
	all.copied[page] = true;
	all.copy[at] = value;
}

static void write_at_offset(void)
{
	static unsigned char buffer[8 * PAGE];
	uint64_t at = below(BYTES), bytes = 1 + below(below(2) ? 100 : sizeof(buffer));
	int64_t done;

	if (bytes > BYTES - at)
		bytes = BYTES - at;
	for (uint64_t i = 0; i < bytes; i++)
		buffer[i] = (unsigned char)below(256);
	done = sf_object_write(all.object, at, buffer, bytes);
	if (done < 0) {
		assert_refusal(done);
		return;
	}
	if ((uint64_t)done < bytes)
		assert_refusal(-calls.error);
	memcpy(all.bytes + at, buffer, (size_t)done);
	if (at + (uint64_t)done > all.size)
		all.size = at + (uint64_t)done;
}

static void read_at_offset(void)
{
	static unsigned char buffer[BYTES];
	uint64_t at = below(BYTES), bytes = 1 + below(BYTES), there = at < all.size ? all.size - at : 0;
	int64_t done = sf_object_read(all.object, at, buffer, bytes);

	if (done < 0) {
		assert_refusal(done);
		return;
	}
	if ((uint64_t)done < (there < bytes ? there : bytes))
		assert_refusal(-calls.error);
	assert_memory_equal(buffer, all.bytes + at, (size_t)done);
}

static void resize(void)
{
	uint64_t size = below(4) ? below(BYTES + 1) : below(PAGES + 1) * PAGE;
	int error = sf_object_resize(all.object, size);

	if (error) {
		assert_refusal(error);
		return;
	}
	if (size < all.size) {
		memset(all.bytes + size, 0, BYTES - size);
		for (uint64_t page = pages_of(size); page < PAGES; page++)
			all.copied[page] = false;
	}
	all.size = size;
}

static void punch(void)
{
	uint64_t at = below(BYTES), bytes = 1 + below(10 * PAGE);
	int error = sf_object_punch(all.object, at, bytes);

	if (error)
		assert_refusal(error);
	else
		memset(all.bytes + at, 0, bytes < BYTES - at ? bytes : BYTES - at);
}

static void sync_some(void)
{
	uint64_t page = below(PAGES), count = 1 + below(PAGES - page);
	int error = below(2) ? sf_object_sync(all.object)
			     : sf_sync(all.space[1], HERE + page * PAGE, count * PAGE, SF_SYNC_SYNC);

	if (error)
		assert_refusal(error);
}

static void one_operation(void)
{
	switch (below(12)) {
	case 0:
		write_at_offset();
		break;
	case 1:
		read_at_offset();
		break;
	case 2:
		resize();
		break;
	case 3:
		punch();
		break;
	case 4:
		sync_some();
		break;
	case 5:
	case 6:
		use_private();
		break;
	default:
		use_shared();
	}
}

static uint64_t first_seed(void)
{
	const char *wanted = getenv("SEED");
	uint64_t seed = wanted ? strtoull(wanted, NULL, 0) : 1;

	print_message("seed %llu\n", (unsigned long long)seed);
	return seed;
}

static void run(unsigned operations)
{
	const char *reason;

	for (unsigned i = 0; i < operations; i++) {
		one_operation();
		if (i % 64 == 0 && sf_system_check(all.system, &reason))
			fail_msg("%s", reason);
	}
}

/* --- The tests ----------------------------------------------------------------------------------------- */

static void a_file_agrees(void **state)
{
	uint64_t seed = first_seed();

	(void)state;
	for (unsigned round = 0; round < 4; round++) {
		open_all(seed + round);
		run(2000);
		close_all();
	}
}

static void it_agrees_when_transfers_are_short_or_interrupted(void **state)
{
	uint64_t seed = first_seed();

	(void)state;
	calls.short_ones = calls.interrupted = 0;
	for (unsigned round = 0; round < 4; round++) {
		open_all(seed + round);
		calls.breaks_up = true;
		run(2000);
		close_all();
	}
	assert_true(calls.short_ones > 1000);
	assert_true(calls.interrupted > 1000);
}

/* Each nth system call fails, for all small n. */
static void it_agrees_when_each_nth_call_fails(void **state)
{
	uint64_t seed = first_seed();
	unsigned refused = 0;

	(void)state;
	for (unsigned every = 1; every <= 12; every++) {
		open_all(seed + every);
		calls.every = every;
		calls.error = every % 2 ? EIO : ENOSPC;
		run(1000);
		refused += all.refused;
		close_all();
	}
	assert_true(refused > 1000);
}

static uint64_t dirty_bytes(void)
{
	struct sf_object_statistics statistics;

	sf_object_statistics(all.object, &statistics);
	return statistics.dirty;
}

static void a_failed_write_is_told_once_and_tried_again(void **state)
{
	static const int errors[] = {EIO, ENOSPC};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool by_mapping = i / 2;

		open_all(first_seed());
		assert_int_equal(sf_object_resize(all.object, BYTES), 0);
		all.size = BYTES;
		assert_int_equal(sf_object_sync(all.object), 0);
		for (uint64_t page = 0; page < PAGES; page += 5) {
			all.bytes[page * PAGE] ^= 1;
			assert_int_equal(
			    sf_write(all.space[0], HERE + page * PAGE, &all.bytes[page * PAGE], 1, NULL), 1);
		}
		assert_int_equal(dirty_bytes(), 10 * PAGE);
		calls.every = 1;
		calls.error = errors[i % 2];
		for (unsigned again = 0; again < 2; again++) {
			assert_int_equal(by_mapping ? sf_sync(all.space[1], HERE, BYTES, SF_SYNC_SYNC)
						    : sf_object_sync(all.object),
					 -calls.error);
			assert_int_equal(dirty_bytes(), 10 * PAGE);
		}
		calls.every = 0;
		calls.syncs = 0;
		assert_int_equal(sf_object_sync(all.object), 0);
		assert_int_equal(calls.syncs, 1);
		assert_int_equal(dirty_bytes(), 0);
		assert_file_holds_all();
		close_all();
	}
}

static void another_who_cuts_the_file_leaves_zeroes(void **state)
{
	unsigned char bytes[2];

	(void)state;
	open_all(first_seed());
	assert_int_equal(sf_object_resize(all.object, BYTES), 0);
	assert_int_equal(syscall(SYS_ftruncate, all.file, 20 * PAGE + 1), 0);
	assert_int_equal(sf_object_read(all.object, 30 * PAGE, bytes, 2), 2);
	assert_int_equal(bytes[0] | bytes[1], 0);
	assert_int_equal(syscall(SYS_ftruncate, all.file, BYTES), 0);
	memset(all.bytes + 20 * PAGE + 1, 0, BYTES - 20 * PAGE - 1);
	memset(all.bytes + all.size, 0, BYTES - all.size);
	all.size = BYTES;
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_agrees),
	    cmocka_unit_test(it_agrees_when_transfers_are_short_or_interrupted),
	    cmocka_unit_test(it_agrees_when_each_nth_call_fails),
	    cmocka_unit_test(a_failed_write_is_told_once_and_tried_again),
	    cmocka_unit_test(another_who_cuts_the_file_leaves_zeroes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
