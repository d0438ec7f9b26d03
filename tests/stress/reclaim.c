/* SPDX-License-Identifier: MIT */
/*
 * No byte is lost under pressure. Eight threads have memory of their own, private, shared and of a file, four
 * times as much as there is room for: half of them below a group's limit, the others in RAM. They write
 * patterns and look for them, fork, truncate, punch, discard and lock; transfers fail; and a ninth reclaims
 * in the background. Every page is either what was written to it, or an error is told, and it is tried again;
 * a write to a file that failed in the background is told by the next sync. In the end the files hold what
 * was written, and no frame, slot of swap or charge is left.
 *
 * ROUNDS in the environment makes it longer, and SEED another; `make stress` goes on for minutes.
 */
#include <string.h>

#include "tests/common/memory_backing.h"
#include "tests/unit/mm/fault_fixture.h"

#define WORKERS   8u
#define CPUS      (WORKERS + 1)
#define PRIVATE   128u
#define CACHED    64u /* of shared memory; and of the file */
#define PAGES     (PRIVATE + 2 * CACHED)
#define LIMIT     256u /* of four workers' 1024 pages */
#define FRAMES    900u
#define SLOTS     8192u
#define STEPS     250u
#define TRIES_MAX 20000u

enum part { PART_PRIVATE, PART_SHARED, PART_FILE, PARTS };

struct worker {
	struct sf_space *space, *child; /* the child is NULL at times */
	struct sf_object *object[PARTS];
	struct memory_backing file;
	uint64_t at[PARTS];
	/* What each page holds; 0: zeroes. The child's private ones are its own. */
	uint64_t value[PAGES], child_value[PRIVATE];
	/* It may be zeroes as well, since it is free to go. */
	bool lazy[PAGES], child_lazy[PRIVATE];
	unsigned errors, no_memory;
	uint64_t told; /* how many of the file's failed writes may have been */
	struct random random;
};

static struct {
	struct sf_system *system;
	struct sf_group *group;
	struct memory_backing swap;
	struct worker worker[WORKERS];
	_Atomic unsigned working;
	uint64_t seed, free_frames; /* of the new system */
} stage;

static enum part part_of(unsigned page)
{
	return page < PRIVATE ? PART_PRIVATE : page < PRIVATE + CACHED ? PART_SHARED : PART_FILE;
}

static unsigned first_of(enum part part)
{
	return part == PART_PRIVATE ? 0 : part == PART_SHARED ? PRIVATE : PRIVATE + CACHED;
}

static uint64_t address_of(const struct worker *worker, unsigned page)
{
	enum part part = part_of(page);

	return worker->at[part] + (page - first_of(part)) * PAGE;
}

static void fill(uint64_t *contents, uint64_t value)
{
	struct random random = {value};

	for (unsigned i = 0; i < PAGE / 8; i++)
		contents[i] = value ? random_next(&random) : 0;
}

/* An error is told, and counted. It may be tried again, but not for ever. */
static void failed(struct worker *worker, const struct sf_signal *signal, unsigned *tries)
{
	if (signal->signal)
		worker->errors++;
	else
		worker->no_memory++;
	invariant(!signal->signal || signal->signal == 7);
	invariant(++*tries < TRIES_MAX);
}

static void write_page(struct worker *worker, struct sf_space *space, unsigned page, uint64_t value)
{
	struct sf_signal signal;
	uint64_t contents[PAGE / 8];
	unsigned tries = 0;

	fill(contents, value);
	while (sf_write(space, address_of(worker, page), contents, PAGE, &signal) != PAGE)
		failed(worker, &signal, &tries);
}

static void look(struct worker *worker, struct sf_space *space, unsigned page, uint64_t value, bool lazy)
{
	uint64_t contents[PAGE / 8], wanted[PAGE / 8];
	struct sf_signal signal;
	unsigned tries = 0;

	fill(wanted, value);
	while (sf_read(space, address_of(worker, page), contents, PAGE, &signal) != PAGE)
		failed(worker, &signal, &tries);
	if (lazy && !contents[0])
		fill(wanted, 0);
	invariant(!memcmp(contents, wanted, PAGE));
}

static unsigned some(struct worker *worker, unsigned count)
{
	return (unsigned)random_below(&worker->random, count);
}

static void fork_or_end(struct worker *worker)
{
	unsigned tries = 0;

	if (worker->child) {
		for (unsigned page = 0; page < PRIVATE; page++)
			look(worker, worker->child, page, worker->child_value[page],
			     worker->child_lazy[page]);
		sf_space_destroy(worker->child);
		worker->child = NULL;
		return;
	}
	while (sf_space_fork(worker->space, &worker->child)) {
		worker->no_memory++;
		invariant(++tries < TRIES_MAX);
	}
	memcpy(worker->child_value, worker->value, sizeof(worker->child_value));
	memcpy(worker->child_lazy, worker->lazy, sizeof(worker->child_lazy));
}

/* Cuts an object and lets it grow again, or punches a hole into it. What fails has changed nothing. */
static void cut(struct worker *worker)
{
	enum part part = some(worker, 2) ? PART_SHARED : PART_FILE;
	struct sf_object *object = worker->object[part];
	unsigned from = some(worker, CACHED), end = CACHED;

	if (some(worker, 2)) {
		if (sf_object_resize(object, from * PAGE))
			return;
		while (sf_object_resize(object, CACHED * PAGE))
			worker->errors++;
	} else {
		end = from + 1 + some(worker, CACHED - from);
		if (sf_object_punch(object, from * PAGE, (end - from) * PAGE))
			return;
	}
	for (unsigned page = from; page < end; page++)
		worker->value[first_of(part) + page] = 0;
}

static void discard(struct worker *worker)
{
	unsigned from = some(worker, PRIVATE), pages = 1 + some(worker, 8);
	bool lazily = some(worker, 2);

	if (pages > PRIVATE - from)
		pages = PRIVATE - from;
	invariant(!sf_advise(worker->space, address_of(worker, from), pages * PAGE,
			     lazily ? SF_ADVICE_FREE : SF_ADVICE_DONTNEED));
	for (unsigned page = from; page < from + pages; page++) {
		if (!lazily)
			worker->value[page] = 0;
		worker->lazy[page] = lazily;
	}
}

static void lock_some(struct worker *worker)
{
	uint64_t at = address_of(worker, some(worker, PRIVATE - 4));

	/* It may find no room; then the pages are locked as they come. */
	(void)sf_lock(worker->space, at, 4 * PAGE);
	invariant(!sf_unlock(worker->space, at, 4 * PAGE));
}

static void by_offset(struct worker *worker)
{
	enum part part = some(worker, 2) ? PART_SHARED : PART_FILE;
	unsigned index = some(worker, CACHED);
	uint64_t *value = &worker->value[first_of(part) + index], contents[PAGE / 8], wanted[PAGE / 8];
	unsigned tries = 0;

	if (some(worker, 2)) {
		*value = random_next(&worker->random) | 1;
		fill(contents, *value);
		while (sf_object_write(worker->object[part], index * PAGE, contents, PAGE) != (int64_t)PAGE)
			invariant(++tries < TRIES_MAX);
		return;
	}
	fill(wanted, *value);
	while (sf_object_read(worker->object[part], index * PAGE, contents, PAGE) != (int64_t)PAGE)
		invariant(++tries < TRIES_MAX);
	invariant(!memcmp(contents, wanted, PAGE));
}

/* Returns whether all is in the file. What failed before has been told by now, or is. */
static bool sync_file(struct worker *worker)
{
	uint64_t failed_before = atomic_load(&worker->file.failed_writes);
	int error = sf_object_sync(worker->object[PART_FILE]);

	invariant(error || failed_before <= worker->told);
	worker->told = atomic_load(&worker->file.failed_writes);
	return !error;
}

/* Whoever maps it: the child has the same objects. */
static struct sf_space *either_space(struct worker *worker, unsigned page)
{
	return worker->child && page >= PRIVATE && some(worker, 2) ? worker->child : worker->space;
}

static void step(struct worker *worker)
{
	unsigned page = some(worker, PAGES), what = some(worker, 100);
	uint64_t value = random_next(&worker->random) | 1;

	if (what < 40) {
		write_page(worker, either_space(worker, page), page, value);
		worker->value[page] = value;
		worker->lazy[page] = false;
	} else if (what < 75) {
		look(worker, either_space(worker, page), page, worker->value[page], worker->lazy[page]);
	} else if (what < 80 && worker->child) {
		page %= PRIVATE;
		write_page(worker, worker->child, page, value);
		worker->child_value[page] = value;
		worker->child_lazy[page] = false;
	} else if (what < 84) {
		by_offset(worker);
	} else if (what < 87) {
		fork_or_end(worker);
	} else if (what < 89) {
		cut(worker);
	} else if (what < 91) {
		discard(worker);
	} else if (what < 92) {
		lock_some(worker);
	} else if (what < 94) {
		(void)sync_file(worker);
	} else if (what < 96) {
		(void)sf_advise(worker->space, worker->at[PART_PRIVATE], PRIVATE * PAGE, SF_ADVICE_PAGEOUT);
	} else if (what < 98) {
		atomic_store(&stage.swap.good, some(worker, 20));
	} else {
		atomic_store(&worker->file.good, some(worker, 20));
	}
}

static void work(unsigned cpu, void *argument)
{
	struct worker *worker = &stage.worker[cpu];

	(void)argument;
	if (cpu == WORKERS) {
		sf_reclaim_background(stage.system);
		return;
	}
	random_seed(&worker->random, stage.seed * WORKERS + cpu);
	for (unsigned i = 0; i < STEPS; i++)
		step(worker);
	for (unsigned page = 0; page < PAGES; page++)
		look(worker, worker->space, page, worker->value[page], worker->lazy[page]);
	system_cpu_idle(stage.system);
	if (atomic_fetch_sub(&stage.working, 1) == 1)
		sf_reclaim_stop(stage.system);
}

static void open_worker(struct worker *worker, bool limited)
{
	struct sf_group *group = limited ? stage.group : sf_group_root(stage.system);

	memset(worker, 0, sizeof(*worker));
	assert_int_equal(sf_space_create_in(group, &worker->space), 0);
	assert_int_equal(sf_map(worker->space, 0, PRIVATE * PAGE, SF_PROT_READ | SF_PROT_WRITE,
				SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &worker->at[PART_PRIVATE]),
			 0);
	memory_backing_open(&worker->file, CACHED * PAGE, CACHED * PAGE);
	memset(worker->file.bytes, 0, CACHED * PAGE);
	worker->file.error = -EIO;
	worker->file.fails_once = true;
	assert_int_equal(sf_object_create(stage.system, CACHED * PAGE, 0, &worker->object[PART_SHARED]), 0);
	assert_int_equal(sf_file_open(stage.system, &worker->file.backing, &worker->object[PART_FILE]), 0);
	for (enum part part = PART_SHARED; part < PARTS; part++)
		assert_int_equal(sf_map_object(worker->space, 0, CACHED * PAGE, SF_PROT_READ | SF_PROT_WRITE,
					       SF_MAP_SHARED, worker->object[part], 0, &worker->at[part]),
				 0);
}

static void open_stage(const char *policy)
{
	struct system_config config = {.own_frames = FRAMES};
	struct sf_system_statistics frames;
	struct message why = {""};

	assert_int_equal(policy_parse(&config.policy, policy, &why), 0);
	assert_int_equal(system_create(&config, &stage.system, &why), 0);
	sf_system_statistics(stage.system, &frames);
	stage.free_frames = frames.free_frames;
	memory_backing_open(&stage.swap, SLOTS * PAGE, SLOTS * PAGE);
	stage.swap.fails_once = true;
	assert_int_equal(sf_swap_add(stage.system, &stage.swap.backing, 0), 0);
	assert_int_equal(sf_group_create(sf_group_root(stage.system), &stage.group), 0);
	assert_int_equal(sf_group_set_limit(stage.group, LIMIT * PAGE), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		open_worker(&stage.worker[i], i % 2);
}

/* Nothing fails any more. The first sync may tell of what did. */
static void assert_file_is_written(struct worker *worker)
{
	uint64_t wanted[PAGE / 8];

	atomic_store(&worker->file.good, MEMORY_BACKING_NEVER);
	assert_true(sync_file(worker) || sync_file(worker));
	assert_int_equal(worker->file.size, CACHED * PAGE);
	for (unsigned i = 0; i < CACHED; i++) {
		fill(wanted, worker->value[first_of(PART_FILE) + i]);
		assert_memory_equal(worker->file.bytes + i * PAGE, wanted, PAGE);
	}
}

static void close_worker(struct worker *worker)
{
	assert_file_is_written(worker);
	if (worker->child)
		sf_space_destroy(worker->child);
	sf_space_destroy(worker->space);
	sf_object_close(worker->object[PART_SHARED]);
	sf_object_close(worker->object[PART_FILE]);
}

/* Nothing is used any more but what the system itself needs, as when it was new. */
static void assert_nothing_left(void)
{
	struct sf_system_statistics frames;
	struct sf_swap_statistics swap;
	struct sf_group_statistics group;

	assert_good(stage.system);
	sf_swap_statistics(stage.system, &swap);
	assert_int_equal(swap.used, 0);
	/* What CPUs have charged ahead is given back. */
	assert_int_equal(sf_group_set_limit(stage.group, 0), 0);
	sf_group_statistics(stage.group, &group);
	assert_int_equal(group.usage, 0);
	assert_int_equal(sf_group_destroy(stage.group), 0);
	sf_system_statistics(stage.system, &frames);
	assert_int_equal(frames.shared_frames + frames.file_frames + frames.index_frames, 0);
	assert_int_equal(frames.free_frames, stage.free_frames);
}

static void close_stage(void)
{
	unsigned errors = 0, no_memory = 0;
	struct sf_reclaim_statistics counts;

	for (unsigned i = 0; i < WORKERS; i++) {
		close_worker(&stage.worker[i]);
		errors += stage.worker[i].errors;
		no_memory += stage.worker[i].no_memory;
	}
	assert_nothing_left();
	sf_reclaim_statistics(stage.system, &counts);
	print_message(
	    "%llu reclaimed of %llu scanned, %llu by threads, %llu in the background; told: %u errors, "
	    "%u times no memory\n",
	    (unsigned long long)counts.reclaimed, (unsigned long long)counts.scanned,
	    (unsigned long long)counts.direct, (unsigned long long)counts.background, errors, no_memory);
	assert_true(counts.reclaimed > 1000);
	/* Whatever others have isolated, gathered or locked: swap has room, so it can be waited for. */
	assert_int_equal(no_memory, 0);
	fault_system_end(stage.system);
	memory_backing_close(&stage.swap);
	for (unsigned i = 0; i < WORKERS; i++)
		memory_backing_close(&stage.worker[i].file);
}

static const char *const policies[] = {
    "default",
    "base_2004",
    "base_2010 rmap_lock=try dirty_transfer=on",
    "default dirty_tracking=pte dirty_transfer=off rmap_lock=wait page_table_lock=split charge_stock=32",
};

static void no_byte_is_lost(void **state)
{
	const char *wanted = getenv("SEED"), *rounds = getenv("ROUNDS");
	uint64_t seed = wanted ? strtoull(wanted, NULL, 0) : 3;
	uint64_t count = rounds ? strtoull(rounds, NULL, 0) : 4;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		print_message("seed %llu, %s\n", (unsigned long long)seed, policies[i]);
		open_stage(policies[i]);
		for (uint64_t round = 0; round < count; round++) {
			stage.seed = seed + round;
			stage.swap.error = round % 4 == 3 ? -EIO : -ENOMEM;
			atomic_store(&stage.working, WORKERS);
			assert_int_equal(host_run(work, NULL), 0);
			assert_good(stage.system);
		}
		close_stage();
	}
}

static int open_machine(void **state)
{
	(void)state;
	return host_open(CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(no_byte_is_lost, open_machine, fault_machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
