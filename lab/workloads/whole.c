/* SPDX-License-Identifier: MIT */
/*
 * Everything at once on one system: where a mechanism costs another something, it shows here. One operation
 * is a round, in which a CPU does a step of each mechanism:
 *
 *   anonymous  write faults on private memory of the common space, each CPU in 2 MiB regions of its own
 *   shared     write faults on its own slice of one shared memory object there
 *   file       read faults on its own slice of one file on a disk there
 *   pfn        faults that each insert one PFN there
 *   map        in the space of its own: maps some pages, writes to each, unmaps them
 *   fork       forks that space, writes to some pages in the child, and ends the child
 *   limit      write faults in a third space, round and round through twice what its group may have: each
 *              reclaims, writes to swap and reads from it
 *
 * Each CPU begins its rounds with another mechanism, so all are at work at any time. The common space is one
 * process with a thread on each CPU, and nothing is unmapped in it; the other spaces are processes of one
 * thread. What is touched in the common space is new each time.
 *
 * The option `only` leaves one mechanism: what its step takes then, on as many CPUs, is what it takes when
 * the others cost it nothing. The figures are the mean times of a step.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workload.h"

#define PAGE_BYTES  4096ull
#define TABLE_PAGES 512ull
#define GIB         (1ull << 30)

/* Touches of a step of each kind of fault; pages of a mapping; pages that a child writes. */
#define STEP_PAGES  4u
#define CHILD_PAGES 2u
#define FORK_PAGES  16u
#define LIMIT_PAGES 64u

/* While the others measure, a CPU goes on: at most so many times its own rounds. */
#define SLACK 4u

#define COMMON   0u
#define FILE_OBJ 0u

/* Addresses in the spaces. */
#define ANON_BASE   ((uintptr_t)1 << 40)
#define SHARED_BASE ((uintptr_t)2 << 40)
#define FILE_BASE   ((uintptr_t)3 << 40)
#define PFN_BASE    ((uintptr_t)4 << 40)
#define MAP_BASE    ((uintptr_t)1 << 40)
#define FORK_BASE   ((uintptr_t)2 << 40)
#define LIMIT_BASE  ((uintptr_t)1 << 40)

enum mechanism { ANONYMOUS, SHARED, DISK_FILE, PFN, MAP, FORK, LIMIT, MECHANISMS };

static const struct workload_option options[] = {
    {"only", {"all", "anonymous", "shared", "file", "pfn", "map", "fork", "limit"}},
};

static const struct workload_figure figures[MECHANISMS] = {
    [ANONYMOUS] = {"anonymous: 4 faults", "ns"},
    [SHARED] = {"shared: 4 faults", "ns"},
    [DISK_FILE] = {"file: 4 faults", "ns"},
    [PFN] = {"pfn: 4 faults", "ns"},
    [MAP] = {"map: 4 pages, touch, unmap", "ns"},
    [FORK] = {"fork: 16 pages, 2 copied, exit", "ns"},
    [LIMIT] = {"limit: 4 faults in a full group", "ns"},
};

struct tally {
	uint64_t steps, ns;
};

/* What one CPU does and how it went; the CPUs share no cache line of it. */
struct worker {
	CACHE_LINE_ALIGNED uint64_t next; /* page of its slices to touch next */
	uint64_t limit_next;              /* page to touch next in the space that is limited */
	struct tally tally[MECHANISMS];   /* in the window */
	bool measuring;
	int error;
	const char *failed;
};

struct whole {
	const struct engine *engine;
	const struct workload_size *size;
	uint64_t slice_pages; /* of each CPU in each of the common mappings */
	struct worker *workers;
	struct message *why;
	const char *failed; /* in setting up */
	int error;
};

/* Whole page tables: CPUs share none of the lowest level. */
static uint64_t slice_pages(const struct workload_size *size)
{
	uint64_t pages = SLACK * (size->warm_up + size->measured) * STEP_PAGES;

	return (pages + TABLE_PAGES - 1) / TABLE_PAGES * TABLE_PAGES;
}

static uint64_t slices_bytes(const struct workload_size *size)
{
	return size->cpus * slice_pages(size) * PAGE_BYTES;
}

/* RAM that nobody runs short of but by a group's limit. It is memory only where it is used. */
static uint64_t memory_bytes(const struct workload_size *size)
{
	return 3 * slices_bytes(size) + size->cpus * (16ull << 20) + 4 * GIB;
}

static uint64_t exported_bytes(const struct workload_size *size)
{
	return slices_bytes(size);
}

static const char *refusal(const struct engine *engine)
{
	return engine->map_pfn && engine->space_fork ? NULL : "a user process cannot insert PFNs";
}

/* The space of its own, the child that it forks, and the one that is limited. */
static unsigned own_space(unsigned cpu)
{
	return 1 + 3 * cpu;
}

static unsigned child_space(unsigned cpu)
{
	return 2 + 3 * cpu;
}

static unsigned limited_space(unsigned cpu)
{
	return 3 + 3 * cpu;
}

static bool does(const struct whole *run, enum mechanism mechanism)
{
	unsigned only = run->size->settings.choice[0];

	return !only || only - 1 == mechanism;
}

static int touch_common(const struct whole *run, unsigned cpu, uintptr_t base, bool write)
{
	uint64_t first = run->workers[cpu].next % run->slice_pages;
	int error = 0;

	for (unsigned i = 0; i < STEP_PAGES && !error; i++)
		error = run->engine->touch(COMMON, base + (cpu * run->slice_pages + first + i) * PAGE_BYTES,
					   write);
	return error;
}

static int map_and_unmap(const struct whole *run, unsigned cpu)
{
	const struct engine *engine = run->engine;
	unsigned space = own_space(cpu);
	int error = engine->map_anon(space, MAP_BASE, STEP_PAGES * PAGE_BYTES, false);

	for (unsigned i = 0; i < STEP_PAGES && !error; i++)
		error = engine->touch(space, MAP_BASE + i * PAGE_BYTES, true);
	return error ? error : engine->unmap(space, MAP_BASE, STEP_PAGES * PAGE_BYTES);
}

static int fork_and_exit(const struct whole *run, unsigned cpu)
{
	const struct engine *engine = run->engine;
	unsigned child = child_space(cpu);
	int error = engine->space_fork(own_space(cpu), child);

	if (error)
		return error;
	for (unsigned i = 0; i < CHILD_PAGES && !error; i++)
		error = engine->touch(child, FORK_BASE + i * PAGE_BYTES, true);
	engine->space_destroy(child);
	return error;
}

/* Round after round through more pages than the group may have. */
static int touch_limited(const struct whole *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	unsigned space = limited_space(cpu);
	int error = 0;

	for (unsigned i = 0; i < STEP_PAGES && !error; i++) {
		uintptr_t address = LIMIT_BASE + worker->limit_next++ % (2 * LIMIT_PAGES) * PAGE_BYTES;

		error = run->engine->touch(space, address, true);
	}
	return error;
}

static int step(const struct whole *run, unsigned cpu, enum mechanism mechanism)
{
	switch (mechanism) {
	case ANONYMOUS:
		return touch_common(run, cpu, ANON_BASE, true);
	case SHARED:
		return touch_common(run, cpu, SHARED_BASE, true);
	case DISK_FILE:
		return touch_common(run, cpu, FILE_BASE, false);
	case PFN:
		return touch_common(run, cpu, PFN_BASE, true);
	case MAP:
		return map_and_unmap(run, cpu);
	case FORK:
		return fork_and_exit(run, cpu);
	default:
		return touch_limited(run, cpu);
	}
}

static const char *const doing[MECHANISMS] = {
    [ANONYMOUS] = "touching anonymous memory",
    [SHARED] = "touching shared memory",
    [DISK_FILE] = "touching a file",
    [PFN] = "touching page frames",
    [MAP] = "mapping and unmapping",
    [FORK] = "forking",
    [LIMIT] = "touching memory of a group at its limit",
};

static int go_round(struct whole *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];

	for (unsigned i = 0; i < MECHANISMS && !worker->error; i++) {
		enum mechanism mechanism = (enum mechanism)((cpu + i) % MECHANISMS);
		uint64_t before = run->engine->clock_ns();

		if (!does(run, mechanism))
			continue;
		worker->failed = doing[mechanism];
		worker->error = step(run, cpu, mechanism);
		if (worker->measuring) {
			worker->tally[mechanism].steps++;
			worker->tally[mechanism].ns += run->engine->clock_ns() - before;
		}
	}
	worker->next += STEP_PAGES;
	return worker->error;
}

/*
 * The pages that its forks share. By the CPU itself: one that has used a space is interrupted by all that
 * ends translations there, and who sets up for all would be so by all.
 */
static void fill_own(struct whole *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];

	worker->failed = "touching memory of its own";
	for (unsigned i = 0; i < FORK_PAGES && !worker->error; i++)
		worker->error = run->engine->touch(own_space(cpu), FORK_BASE + i * PAGE_BYTES, true);
}

/* Runs on every CPU. After an error it still has a window, for which the others wait. */
static void body(unsigned cpu, void *argument)
{
	struct whole *run = argument;
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;

	fill_own(run, cpu);
	for (uint64_t i = 0; i < run->size->warm_up && !worker->error; i++)
		go_round(run, cpu);
	engine->measure_begin();
	worker->measuring = true;
	for (uint64_t i = 0; i < run->size->measured && !worker->error; i++) {
		go_round(run, cpu);
		engine->count_operations(1);
	}
	worker->measuring = false;
	engine->measure_end();
	while (!worker->error && worker->next + STEP_PAGES <= run->slice_pages && engine->measure_active())
		go_round(run, cpu);
}

static int make_common(struct whole *run)
{
	const struct engine *engine = run->engine;
	uint64_t bytes = slices_bytes(run->size);
	int error;

	run->failed = "adding swap";
	error = engine->swap_add(run->size->cpus * 8 * LIMIT_PAGES * PAGE_BYTES);
	if (error)
		return error;
	run->failed = "making the common space";
	error = engine->space_create(COMMON);
	if (!error)
		error = engine->map_anon(COMMON, ANON_BASE, bytes, false);
	if (!error)
		error = engine->map_anon(COMMON, SHARED_BASE, bytes, true);
	if (!error)
		error = engine->map_pfn(COMMON, PFN_BASE, bytes, 0);
	if (error)
		return error;
	run->failed = "mapping a file";
	error = engine->file_create(FILE_OBJ, bytes, true);
	if (!error)
		error = engine->file_map(COMMON, FILE_BASE, bytes, FILE_OBJ, 0);
	engine->file_close(FILE_OBJ);
	return error;
}

static int make_own(struct whole *run, unsigned cpu)
{
	const struct engine *engine = run->engine;
	int error;

	run->failed = "making a CPU's own space";
	error = engine->space_create(own_space(cpu));
	if (!error)
		error = engine->map_anon(own_space(cpu), FORK_BASE, FORK_PAGES * PAGE_BYTES, false);
	if (error)
		return error;
	run->failed = "making a group with a limit";
	error = engine->group_create(1 + cpu, 0);
	if (!error)
		error = engine->group_set_limit(1 + cpu, LIMIT_PAGES * PAGE_BYTES);
	if (!error)
		error = engine->space_create_in(limited_space(cpu), 1 + cpu);
	if (!error)
		error = engine->map_anon(limited_space(cpu), LIMIT_BASE, 2 * LIMIT_PAGES * PAGE_BYTES, false);
	return error;
}

/* Runs once, before. */
static void set_up(void *argument)
{
	struct whole *run = argument;

	run->error = make_common(run);
	for (unsigned cpu = 0; cpu < run->size->cpus && !run->error; cpu++)
		run->error = make_own(run, cpu);
	if (run->error)
		message_set(run->why, run->error, "%s failed: %s", run->failed, strerror(-run->error));
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct whole *run = argument;

	run->error = run->engine->check(run->why);
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		run->engine->space_destroy(own_space(cpu));
		run->engine->space_destroy(limited_space(cpu));
	}
	run->engine->space_destroy(COMMON);
	if (!run->error)
		run->error = run->engine->check(run->why);
}

static int first_error(void *argument)
{
	const struct whole *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		if (run->workers[cpu].error)
			return workload_cpu_failed(cpu, run->workers[cpu].error, run->workers[cpu].failed,
						   run->why);
	return run->error;
}

static const struct workload_phases phases = {
    .set_up = set_up, .body = body, .tear_down = check_and_tear_down, .error = first_error};

static void sum_up(const struct whole *run, struct workload_outcome *outcome)
{
	for (unsigned i = 0; i < MECHANISMS; i++) {
		struct tally all = {0};

		for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
			all.steps += run->workers[cpu].tally[i].steps;
			all.ns += run->workers[cpu].tally[i].ns;
		}
		outcome->figures[i] = all.steps ? (double)all.ns / (double)all.steps : NAN;
	}
}

static int run(const struct engine *engine, const struct workload_size *size,
	       struct workload_outcome *outcome, struct message *why)
{
	struct whole run = {.engine = engine, .size = size, .slice_pages = slice_pages(size), .why = why};
	int error;

	run.workers = aligned_alloc(CACHE_LINE_BYTES, size->cpus * sizeof(*run.workers));
	if (!run.workers)
		return message_set(why, -ENOMEM, "out of memory for %u CPUs", size->cpus);
	memset(run.workers, 0, size->cpus * sizeof(*run.workers));
	error = workload_run_phases(engine, size, &phases, &run, &outcome->timing, why);
	sum_up(&run, outcome);
	free(run.workers);
	return error;
}

const struct workload workload_whole = {
    .name = "whole",
    .operation = "round",
    .contents = true,
    .options = options,
    .option_count = ARRAY_SIZE(options),
    .figures = figures,
    .figure_count = MECHANISMS,
    .memory_bytes = memory_bytes,
    .exported_bytes = exported_bytes,
    .refusal = refusal,
    .run = run,
};
