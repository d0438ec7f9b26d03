/* SPDX-License-Identifier: MIT */
/*
 * A program that uses the library as its users do, through softfault.h alone: more threads than slots, two
 * spaces, and every call at once. Mappings stand where the library places them, so those of different threads
 * are neighbours, merge, split, and take each other's holes.
 *
 *   one space     ...BBB CC AAAA  A CCCCCC BBBB|      A: a region of thread A, with a hole that it made and
 * that B or C may have filled since
 *
 * Each thread keeps a copy of every byte of its regions, and what each page allows (library_regions.h).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "softfault.h"
#include "tests/stress/library_regions.h"

#define THREADS 6
#define SLOTS   4
#define SPACES  2
#define ROUNDS  3000

/* How often each thread raises the common counter. */
#define COUNTS (ROUNDS / 20)

static struct stage {
	struct sf_system *system;
	struct sf_space *space[SPACES];
	struct sf_space *hog; /* of RAM, when that is scarce */
	uint64_t counter;     /* the address of a word that all spaces share */
	struct worker worker[THREADS];
} stage;

static void enter(void)
{
	int error;

	while ((error = sf_thread_enter(stage.system))) {
		require(error == -EAGAIN);
		sched_yield();
	}
}

/* --- Accesses ------------------------------------------------------------------------------------------- */

/* How many of `bytes` from `offset` of the region can be had with `right`. */
static size_t reachable(const struct region *region, size_t offset, size_t bytes, int right)
{
	size_t done = 0;

	while (done < bytes && region->protection[(offset + done) / PAGE] & right)
		done += PAGE - (offset + done) % PAGE;
	return done < bytes ? done : bytes;
}

/* Why no more than up to `offset` could be had, when `allowed` could. */
static void check_signal(const struct region *region, size_t offset, size_t allowed,
			 const struct sf_signal *signal)
{
	require(signal->address == region->start + offset);
	if (signal->signal == 0) {
		require(ran_out(-ENOMEM));
		return;
	}
	require(offset == allowed);
	require(signal->signal == SIGSEGV && signal->code == SEGV_ACCERR);
}

/* Reads `bytes` from `offset` of the region in `space` and compares them. */
static void check_bytes(struct sf_space *space, const struct region *region, size_t offset, size_t bytes)
{
	unsigned char buffer[PAGES_MAX * SF_PAGE_SIZE];
	struct sf_signal signal;
	size_t done = sf_read(space, region->start + offset, buffer, bytes, &signal);

	size_t allowed = reachable(region, offset, bytes, SF_PROT_READ);

	require(done <= allowed);
	require(memcmp(buffer, region->bytes + offset, done) == 0);
	if (done < bytes)
		check_signal(region, offset + done, offset + allowed, &signal);
}

/* Writes random bytes, into the copy as well if `keep`. */
static void write_bytes(struct worker *worker, struct sf_space *space, struct region *region, size_t offset,
			size_t bytes, bool keep)
{
	unsigned char buffer[PAGES_MAX * SF_PAGE_SIZE];
	uint64_t value = random_next(&worker->random);
	size_t done = 0, allowed = reachable(region, offset, bytes, SF_PROT_WRITE);
	struct sf_signal signal;

	do {
		buffer[done] = (unsigned char)((value >> done % 8 * 8) + done / 8);
	} while (++done < bytes);
	done = sf_write(space, region->start + offset, buffer, bytes, &signal);
	require(done <= allowed);
	if (keep)
		memcpy(region->bytes + offset, buffer, done);
	if (done < bytes)
		check_signal(region, offset + done, offset + allowed, &signal);
}

static void pick_bytes(struct worker *worker, const struct part *part, size_t *offset, size_t *bytes)
{
	size_t first = below(worker, (unsigned)(part->count * PAGE));
	size_t most = part->count * PAGE - first;

	*bytes = 1 + below(worker, below(worker, 2) ? 64 : 2 * (unsigned)PAGE);
	if (*bytes > most)
		*bytes = most;
	*offset = part->first * PAGE + first;
}

static void swap_word(struct worker *worker, const struct part *part)
{
	size_t offset = part->first * PAGE + below(worker, (unsigned)(part->count * PAGE / 8)) * 8;
	uint64_t before, expected, desired = random_next(&worker->random);
	struct sf_signal signal;
	int result;

	memcpy(&before, part->region->bytes + offset, sizeof(before));
	expected = before ^ (below(worker, 4) == 0);
	result = sf_compare_swap_64(worker->space, part->region->start + offset, &expected, desired, &signal);
	if (!(part->region->protection[offset / PAGE] & SF_PROT_WRITE)) {
		require(result == -EFAULT);
		check_signal(part->region, offset, offset, &signal);
		return;
	}
	if (ran_out(result))
		return;
	require(result >= 0);
	if (result)
		memcpy(part->region->bytes + offset, &desired, sizeof(desired));
	else
		require(expected == before);
}

static void look_up(struct worker *worker, const struct part *part)
{
	for (int i = 0; i < 20; i++) {
		enum sf_access access = below(worker, 2) ? SF_WRITE : SF_READ;
		size_t offset = part->first * PAGE + below(worker, (unsigned)(part->count * PAGE));
		int protection = part->region->protection[offset / PAGE];
		struct sf_signal signal;
		unsigned char *byte =
		    sf_tlb_lookup(worker->tlb, part->region->start + offset, access, &signal);

		if (!(protection & (access == SF_WRITE ? SF_PROT_WRITE : SF_PROT_READ))) {
			require(!byte);
			check_signal(part->region, offset, offset, &signal);
			continue;
		}
		if (!byte) {
			check_signal(part->region, offset, PAGES_MAX * PAGE, &signal);
			continue;
		}
		require(*byte == part->region->bytes[offset]);
		if (access == SF_WRITE)
			*byte = part->region->bytes[offset] = (unsigned char)below(worker, 256);
	}
	if (below(worker, 2))
		sf_tlb_idle(worker->tlb);
}

/* A pinned page stays what it was, whatever becomes of its mapping. */
static void pin_page(struct worker *worker, struct part *part)
{
	unsigned char *bytes = part_bytes(part);
	struct sf_signal signal;
	struct sf_pin pin;
	unsigned char *page = sf_pin(worker->space, part_start(part), SF_WRITE, &pin, &signal);

	if (!(part->region->protection[part->first] & SF_PROT_WRITE)) {
		require(!page);
		check_signal(part->region, part->first * PAGE, part->first * PAGE, &signal);
		return;
	}
	if (!page) {
		check_signal(part->region, part->first * PAGE, PAGES_MAX * PAGE, &signal);
		return;
	}
	page[7] = bytes[7] = (unsigned char)below(worker, 256);
	check_bytes(worker->space, part->region, part->first * PAGE, PAGE);
	if (below(worker, 2)) {
		part->count = 1;
		unmap_part(worker, part);
	}
	require(memcmp(page, bytes, PAGE) == 0);
	sf_unpin(stage.system, &pin);
}

/* --- What others see of it ------------------------------------------------------------------------------ */

/* Every byte of the worker's regions, but those of holes, which may be someone else's by now. */
static void check_regions(struct worker *worker, struct sf_space *space)
{
	for (unsigned number = 0; number < REGIONS; number++) {
		const struct region *region = &worker->region[number];

		for (unsigned i = 0; i < region->pages; i++) {
			if (!region->hole[i])
				check_bytes(space, region, i * PAGE, PAGE);
		}
	}
}

/* Returns NULL when RAM is out. */
static struct sf_space *fork_from(struct sf_space *parent)
{
	struct sf_space *child;
	int error = sf_space_fork(parent, &child);

	require(!error || ran_out(error));
	return error ? NULL : child;
}

/* A child has the same bytes; what either writes to private memory is its own. */
static void fork_space(struct worker *worker, struct sf_space *parent, bool again)
{
	struct sf_space *child = fork_from(parent);
	struct part part;
	size_t offset, bytes;

	if (!child)
		return;
	check_regions(worker, child);
	if (pick_part(worker, &part)) {
		pick_bytes(worker, &part, &offset, &bytes);
		write_bytes(worker, child, part.region, offset, bytes, part.region->shared);
		check_bytes(parent, part.region, offset, bytes);
		/* The child's page and the parent's are not the same any more: both can be written to. */
		if (!part.region->shared) {
			write_bytes(worker, worker->space, part.region, offset, bytes, true);
			check_bytes(worker->space, part.region, offset, bytes);
		}
	}
	sf_space_destroy(child);
	child = again ? fork_from(parent) : NULL;
	if (child) {
		fork_space(worker, child, false);
		sf_space_destroy(child);
	}
}
static void raise_counter(struct worker *worker)
{
	uint32_t value = 0;
	int swapped;

	do {
		swapped = sf_compare_swap_32(worker->space, stage.counter, &value, value + 1, NULL);
		require(swapped >= 0);
	} while (!swapped);
}

static void check_statistics(struct worker *worker, const struct part *part)
{
	struct sf_system_statistics system;
	struct sf_space_statistics space;
	struct sf_mapping mapping;
	unsigned char resident[PAGES_MAX];

	require(!sf_next_mapping(worker->space, part_start(part), &mapping));
	require(mapping.start <= part_start(part) && part_start(part) < mapping.end);
	require(mapping.protection == part->region->protection[part->first]);
	require(mapping.shared == part->region->shared);
	require(!sf_mincore(worker->space, part_start(part), part->count * PAGE, resident));
	for (unsigned i = 0; i < part->count; i++)
		require(resident[i] & 1 || part_bytes(part)[i * PAGE] == 0);
	sf_space_statistics(worker->space, &space);
	require(space.size >= part->count * PAGE && space.peak_size >= space.size);
	sf_system_statistics(stage.system, &system);
	require(system.free_frames < system.frames && system.faults > 0);
}

/* --- The run -------------------------------------------------------------------------------------------- */

static void act(struct worker *worker, const struct part *chosen)
{
	struct part part = *chosen;
	size_t offset, bytes;

	pick_bytes(worker, &part, &offset, &bytes);
	switch (below(worker, 16)) {
	case 0:
		if (below(worker, 3))
			unmap_part(worker, &part);
		else
			unmap_region(worker, part.region);
		break;
	case 1:
	case 2:
		protect_part(worker, &part);
		break;
	case 3:
		advise_part(worker, &part);
		break;
	case 4:
		remap_region(worker, part.region);
		break;
	case 5:
		pin_page(worker, &part);
		break;
	case 6:
		swap_word(worker, &part);
		break;
	case 7:
	case 8:
		look_up(worker, &part);
		break;
	case 9:
		check_statistics(worker, &part);
		break;
	case 10:
	case 11:
	case 12:
		check_bytes(worker->space, part.region, offset, bytes);
		break;
	default:
		write_bytes(worker, worker->space, part.region, offset, bytes, true);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	enter();
	require(!sf_tlb_create(worker->space, &worker->tlb));
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct part part;

		if (pick_part(worker, &part))
			act(worker, &part);
		else
			map_region(worker);
		if (round % 20 == 0)
			raise_counter(worker);
		if (round % 30 == 7)
			fork_space(worker, worker->space, round % 60 == 7);
		/* Another thread has a turn with the slot. */
		if (round % 50 == 13) {
			sf_tlb_idle(worker->tlb);
			sf_thread_exit(stage.system);
			enter();
		}
		if (round % 100 == 77)
			check_regions(worker, worker->space);
	}
	check_regions(worker, worker->space);
	sf_tlb_destroy(worker->tlb);
	sf_thread_exit(stage.system);
	return NULL;
}

static void assert_good(void)
{
	const char *reason;

	if (sf_system_check(stage.system, &reason))
		fail_msg("seed %llu: %s", (unsigned long long)library_seed, reason);
}

/* Fills RAM but for `pages` pages, less than one thread alone has at times. */
static void leave_free(unsigned pages, uint64_t memory_bytes)
{
	uint64_t start, page;

	assert_int_equal(sf_space_create(stage.system, &stage.hog), 0);
	assert_int_equal(sf_map(stage.hog, 0, memory_bytes, RW, SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &start),
			 0);
	for (page = start; !sf_touch(stage.hog, page, SF_WRITE, NULL); page += PAGE)
		assert_true(page < start + memory_bytes);
	assert_int_equal(sf_advise(stage.hog, page - pages * PAGE, pages * PAGE, SF_ADVICE_DONTNEED), 0);
}

/* Two spaces, the second forked from the first, with a counter that they share. */
static void open_stage(const char *policy, uint64_t memory_bytes)
{
	const struct sf_options options = {.memory_bytes = memory_bytes, .cpus = SLOTS, .policy = policy};
	const char *reason;

	if (sf_system_create(&options, &stage.system, &reason))
		fail_msg("%s: %s", policy, reason);
	enter();
	assert_int_equal(sf_space_create(stage.system, &stage.space[0]), 0);
	assert_int_equal(
	    sf_map(stage.space[0], 0, PAGE, RW, SF_MAP_SHARED | SF_MAP_ANONYMOUS, &stage.counter), 0);
	assert_int_equal(sf_space_fork(stage.space[0], &stage.space[1]), 0);
	/* Nobody can be refused this page later on. */
	for (unsigned i = 0; i < SPACES; i++)
		assert_int_equal(sf_touch(stage.space[i], stage.counter, SF_WRITE, NULL), 0);
	if (library_is_scarce)
		leave_free(24, memory_bytes);
	sf_thread_exit(stage.system);
}

static void close_stage(void)
{
	struct sf_system_statistics statistics;
	uint32_t count;

	enter();
	assert_int_equal(sf_read(stage.space[1], stage.counter, &count, sizeof(count), NULL), sizeof(count));
	assert_int_equal(count, THREADS * COUNTS);
	assert_good();
	for (unsigned i = 0; i < SPACES; i++)
		sf_space_destroy(stage.space[i]);
	if (library_is_scarce)
		sf_space_destroy(stage.hog);
	sf_system_statistics(stage.system, &statistics);
	assert_int_equal(statistics.anonymous_frames, 0);
	assert_int_equal(statistics.pinned_frames, 0);
	assert_good();
	sf_thread_exit(stage.system);
	sf_system_destroy(stage.system);
}

static void run(uint64_t memory_bytes)
{
	static const char *const policies[] = {
	    "default",
	    "base_2004",
	    "base_2009 vma_lookup=refcount",
	    "base_2014",
	    "default vma_lookup=per_vma page_table_lock=split",
	};
	const char *wanted = getenv("SEED");

	library_seed = wanted ? strtoull(wanted, NULL, 0) : 1;
	for (size_t policy = 0; policy < sizeof(policies) / sizeof(policies[0]); policy++) {
		library_refusals = 0;
		open_stage(policies[policy], memory_bytes);
		for (unsigned i = 0; i < THREADS; i++) {
			struct worker *worker = &stage.worker[i];

			memset(worker, 0, sizeof(*worker));
			random_seed(&worker->random, library_seed * THREADS + i);
			worker->space = stage.space[i % SPACES];
			assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
		}
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(stage.worker[i].thread, NULL);
		close_stage();
		assert_true((library_refusals > 0) == library_is_scarce);
	}
}

static void threads_that_do_everything_at_once(void **state)
{
	(void)state;
	library_is_scarce = false;
	run(64 << 20);
}

/* The same while every call that needs memory may be refused it. */
static void threads_that_run_out_of_memory(void **state)
{
	(void)state;
	library_is_scarce = true;
	run(1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_that_do_everything_at_once),
	    cmocka_unit_test(threads_that_run_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
