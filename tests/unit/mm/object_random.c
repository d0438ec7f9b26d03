/* SPDX-License-Identifier: MIT */
/*
 * Seeded random operations on one object, shared memory or a file, that two spaces map shared and one maps
 * private, held against arrays of bytes. Pages are reclaimed and come back, transfers fail at random, frames
 * run out: what a call says it did is what it did, no byte that was written is lost, and the system stays
 * whole.
 */
#include "mm/object/write_back.h"
#include "mm/reclaim/reclaim.h"
#include "mm/system/internal.h"
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/object_fixture.h"

#define PAGES 48u
#define BYTES (PAGES * PAGE)
/* More than fail. */
#define SWAP_SLOTS 8192u
#define SHARED1    BASE
#define SHARED2    (BASE + 1024 * PAGE)
#define PRIVATE1   (BASE + 4096 * PAGE)

static struct {
	struct sf_system *system;
	struct sf_space *space[2];
	struct sf_object *object;
	struct memory_backing file, swap;
	bool is_file, short_of_frames, fails;
	struct random random;

	/* What must be found. */
	unsigned char bytes[BYTES];
	uint64_t size;
	unsigned char copy[BYTES];
	bool copied[PAGES];
	unsigned refused, evicted;
	uint64_t swapped;
} all;

static uint64_t below(uint64_t end)
{
	return random_below(&all.random, end);
}

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE;
}

/* Whether an error may come of what was made to fail. */
static void assert_refusal(int64_t error)
{
	all.refused++;
	assert_true((error == -ENOMEM && all.short_of_frames) || (error == -EIO && all.fails));
}

static void assert_signal(const struct sf_signal *signal, uint64_t index)
{
	if (!signal->signal) {
		assert_refusal(-ENOMEM);
		return;
	}
	assert_int_equal(signal->signal, SIGBUS);
	assert_int_equal(signal->code, BUS_ADRERR);
	if (index < pages_of(all.size))
		assert_refusal(-EIO);
}

/* A byte below the size, or in a page beyond. */
static uint64_t some_byte(void)
{
	uint64_t at = below(BYTES);

	if (at >= all.size && at / PAGE < pages_of(all.size))
		at = all.size - 1;
	return at;
}

static void use_shared(void)
{
	uint64_t at = some_byte(), address = (below(2) ? SHARED1 : SHARED2) + at;
	struct sf_space *space = all.space[below(2)];
	unsigned char value = (unsigned char)below(256);
	struct sf_signal signal = {0};

	if (below(2)) {
		if (sf_write(space, address, &value, 1, &signal))
			all.bytes[at] = value;
		else
			assert_signal(&signal, at / PAGE);
	} else if (sf_read(space, address, &value, 1, &signal)) {
		assert_int_equal(value, all.bytes[at]);
	} else {
		assert_signal(&signal, at / PAGE);
	}
	if (!signal.signal && !all.short_of_frames)
		assert_true(at / PAGE < pages_of(all.size));
}

static void use_private(void)
{
	uint64_t at = some_byte(), page = at / PAGE;
	unsigned char value = (unsigned char)below(256);
	struct sf_signal signal = {0};

	if (below(2)) {
		if (!sf_write(all.space[0], PRIVATE1 + at, &value, 1, &signal)) {
			assert_signal(&signal, page);
			return;
		}
		if (!all.copied[page])
			memcpy(all.copy + page * PAGE, all.bytes + page * PAGE, PAGE);
		all.copied[page] = true;
		all.copy[at] = value;
	} else if (sf_read(all.space[0], PRIVATE1 + at, &value, 1, &signal)) {
		assert_int_equal(value, all.copied[page] ? all.copy[at] : all.bytes[at]);
	} else {
		assert_signal(&signal, page);
	}
}

static void write_object(void)
{
	static unsigned char buffer[8 * PAGE];
	uint64_t at = below(BYTES), bytes = 1 + below(below(2) ? 100 : sizeof(buffer));
	int64_t done;

	if (bytes > BYTES - at)
		bytes = BYTES - at;
	for (uint64_t i = 0; i < bytes; i++)
		buffer[i] = (unsigned char)below(256);
	done = sf_object_write(all.object, at, buffer, bytes);
	if (done < 0)
		assert_refusal(done);
	else if ((uint64_t)done < bytes)
		assert_refusal(all.short_of_frames ? -ENOMEM : -EIO);
	if (done > 0) {
		memcpy(all.bytes + at, buffer, (size_t)done);
		if (at + (uint64_t)done > all.size)
			all.size = at + (uint64_t)done;
	}
}

static void read_object(uint64_t at, uint64_t bytes)
{
	static unsigned char buffer[BYTES];
	uint64_t there = at < all.size ? all.size - at : 0;
	int64_t done = sf_object_read(all.object, at, buffer, bytes);

	if (there > bytes)
		there = bytes;
	if (done < 0) {
		assert_refusal(done);
		return;
	}
	if ((uint64_t)done < there)
		assert_refusal(all.short_of_frames ? -ENOMEM : -EIO);
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

static void give_back(void)
{
	uint64_t page = below(PAGES), count = 1 + below(PAGES - page);

	if (below(2)) {
		assert_int_equal(
		    sf_advise(all.space[1], SHARED1 + page * PAGE, count * PAGE, SF_ADVICE_DONTNEED), 0);
		return;
	}
	assert_int_equal(sf_advise(all.space[0], PRIVATE1 + page * PAGE, count * PAGE, SF_ADVICE_DONTNEED),
			 0);
	memset(all.copied + page, 0, count);
}

static void sync_some(void)
{
	uint64_t page = below(PAGES), count = 1 + below(PAGES - page);
	int error = below(2) ? sf_object_sync(all.object)
			     : sf_sync(all.space[1], SHARED2 + page * PAGE, count * PAGE, SF_SYNC_SYNC);

	/* Also what failed before, and has not been told. */
	if (error)
		assert_int_equal(error, -EIO);
}

static void fork_and_look(void)
{
	struct sf_space *child;
	uint64_t at = some_byte();
	unsigned char value;
	int error = sf_space_fork(all.space[0], &child);

	if (error) {
		assert_int_equal(error, -ENOMEM);
		assert_true(all.short_of_frames);
		return;
	}
	if (sf_read(child, PRIVATE1 + at, &value, 1, NULL))
		assert_int_equal(value, all.copied[at / PAGE] ? all.copy[at] : all.bytes[at]);
	value++;
	(void)sf_write(child, PRIVATE1 + at, &value, 1, NULL);
	value = (unsigned char)below(256);
	if (sf_write(child, SHARED1 + at, &value, 1, NULL))
		all.bytes[at] = value;
	sf_space_destroy(child);
}

/* Reclaims some pages, whoever uses them, or as many as nobody has touched lately. */
static void evict(void)
{
	uint64_t index = below(PAGES);
	struct page *page[RECLAIM_BATCH];
	unsigned count = 0;

	if (below(4) == 0) {
		reclaim_pages(all.system->reclaim, NULL, 1 + below(8));
	} else {
		for (unsigned most = 1 + (unsigned)below(8); count < most; count++, index++) {
			page[count] = cache_next_get(all.object, &index, PAGES);
			if (!page[count])
				break;
		}
		all.evicted += reclaim_page_list(all.system->reclaim, page, count);
	}
	port_rcu_barrier();
}

static void write_back_some(void)
{
	uint64_t bytes = (1 + below(16)) * PAGE;

	assert_true(sf_write_back(all.system, bytes) <= BYTES);
}

/* The right to write goes and comes; the private mapping may be cut by it, and joins again. */
static void protect(void)
{
	uint64_t page = below(PAGES), count = 1 + below(PAGES - page), where = below(2) ? PRIVATE1 : SHARED1;

	assert_int_equal(sf_protect(all.space[0], where + page * PAGE, count * PAGE, SF_PROT_READ), 0);
	assert_int_equal(sf_protect(all.space[0], where + page * PAGE, count * PAGE, RW), 0);
}

static void one_operation(void)
{
	if (all.fails && below(3) == 0) {
		atomic_store(&all.file.good, below(4));
		atomic_store(&all.swap.good, below(4));
	}
	switch (below(20)) {
	case 0:
		write_object();
		break;
	case 1:
		read_object(below(BYTES), 1 + below(BYTES));
		break;
	case 2:
		resize();
		break;
	case 3:
		punch();
		break;
	case 4:
		give_back();
		break;
	case 5:
		sync_some();
		break;
	case 6:
		fork_and_look();
		break;
	case 7:
		protect();
		break;
	case 8:
	case 9:
	case 10:
		use_private();
		break;
	case 11:
	case 12:
	case 13:
		evict();
		break;
	case 14:
		write_back_some();
		break;
	default:
		use_shared();
	}
	atomic_store(&all.file.good, MEMORY_BACKING_NEVER);
	atomic_store(&all.swap.good, MEMORY_BACKING_NEVER);
}

static void open_all(const char *policy, uint64_t frames, uint64_t seed)
{
	all.system = object_system(policy, frames);
	random_seed(&all.random, seed);
	memset(all.bytes, 0, sizeof(all.bytes));
	memset(all.copied, 0, sizeof(all.copied));
	all.size = all.is_file ? below(BYTES) : 0;
	memory_backing_open(&all.file, all.size, BYTES + PAGE);
	all.file.late = below(2);
	memory_backing_open(&all.swap, SWAP_SLOTS * PAGE, SWAP_SLOTS * PAGE);
	all.swap.late = below(2);
	if (seed % 4)
		assert_int_equal(sf_swap_add(all.system, &all.swap.backing, 0), 0);
	for (uint64_t i = 0; i < all.size; i++)
		all.bytes[i] = all.file.bytes[i] = (unsigned char)below(256);
	if (all.is_file)
		assert_int_equal(sf_file_open(all.system, &all.file.backing, &all.object), 0);
	else
		all.object = object_open(all.system, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		all.space[i] = fault_space(all.system);
		map_object_at(all.space[i], SHARED1, PAGES, RW, SHARED, all.object, 0);
		map_object_at(all.space[i], SHARED2, PAGES, RW, SHARED, all.object, 0);
	}
	map_object_at(all.space[0], PRIVATE1, PAGES, RW, PRIVATE, all.object, 0);
}

static void close_all(void)
{
	struct sf_swap_statistics swap;

	sf_swap_statistics(all.system, &swap);
	all.swapped += swap.read;
	sf_space_destroy(all.space[0]);
	read_object(0, BYTES);
	sf_space_destroy(all.space[1]);
	if (all.is_file)
		assert_int_equal(sf_object_sync(all.object) | sf_object_sync(all.object), 0);
	sf_object_close(all.object);
	object_system_end(all.system);
	if (all.is_file) {
		assert_true(all.file.released);
		assert_int_equal(all.file.size, all.size);
		assert_memory_equal(all.file.bytes, all.bytes, all.size);
	}
	memory_backing_close(&all.file);
	memory_backing_close(&all.swap);
}

static void run(const char *policy, uint64_t frames, uint64_t seed, unsigned operations)
{
	open_all(policy, frames, seed);
	for (unsigned i = 0; i < operations; i++) {
		one_operation();
		if (i % 64 == 0)
			assert_good(all.system);
	}
	/* An error that nobody has been told of yet. */
	(void)sf_object_sync(all.object);
	close_all();
}

static uint64_t seed_of_the_test(void)
{
	const char *wanted = getenv("SEED");
	uint64_t seed = wanted ? strtoull(wanted, NULL, 0) : 1;

	print_message("seed %llu\n", (unsigned long long)seed);
	return seed;
}

static void run_all(uint64_t frames, unsigned operations)
{
	uint64_t seed = seed_of_the_test();

	all.evicted = 0;
	all.swapped = 0;
	for (size_t i = 0; i < sizeof(object_policies) / sizeof(object_policies[0]); i++)
		for (unsigned round = 0; round < 4; round++)
			run(object_policies[i], frames, seed + round, operations);
	assert_true(all.evicted > 1000 && (all.is_file || all.swapped > 1000));
}

static void shared_memory_agrees(void **state)
{
	(void)state;
	all.is_file = all.fails = all.short_of_frames = false;
	run_all(512, 2000);
}

static void shared_memory_agrees_whose_swap_fails(void **state)
{
	(void)state;
	all.is_file = all.short_of_frames = false;
	all.fails = true;
	all.refused = 0;
	run_all(512, 2000);
	assert_true(all.refused > 100);
}

static void a_file_agrees(void **state)
{
	(void)state;
	all.is_file = true;
	all.fails = all.short_of_frames = false;
	run_all(512, 2000);
}

static void a_file_agrees_whose_transfers_fail(void **state)
{
	(void)state;
	all.is_file = all.fails = true;
	all.short_of_frames = false;
	all.refused = 0;
	run_all(512, 2000);
	assert_true(all.refused > 1000);
}

static void they_agree_with_few_frames(void **state)
{
	uint64_t seed = seed_of_the_test();

	(void)state;
	all.short_of_frames = true;
	all.refused = 0;
	for (unsigned i = 0; i < 48; i++) {
		all.is_file = i % 2;
		all.fails = i % 4 == 3;
		run(object_policies[i % 8], 28 + i, seed + i, 1500);
	}
	assert_true(all.refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(shared_memory_agrees),
	    fault_test(shared_memory_agrees_whose_swap_fails),
	    fault_test(a_file_agrees),
	    fault_test(a_file_agrees_whose_transfers_fail),
	    fault_test(they_agree_with_few_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
