/* SPDX-License-Identifier: MIT */
/*
 * Tasks that each map 128 MiB of private memory, write to every page, unmap it, and begin again: the page
 * fault test that seed 001 tells of ("page fault scalability test", of the will-it-scale suite by the seed's
 * reporter, where a test's memory is 128 MB). One operation is one fault; what the unmapping costs is in the
 * time between them. The options:
 *
 *   group   in which memory group the spaces are. root: in none but the root, which counts or not as the
 *           policy's root_group says. one: all in one below the root. each: each in one of its own. deep: all
 *           in one at the third level below the root.
 *   spaces  each: every task has its own address space. one: they are threads in one.
 *   round   short: on a virtual machine in proportion, see below. real: of 128 MiB everywhere.
 *
 * The tasks do not wait for each other, but for once: each first touches a part of its memory, from nothing
 * to all of it, and then waits until all have done so. So from the start as many are at work on each part of
 * a round as in the long run, all rounds are of the same length, and a window may be shorter than a round
 * where there are many tasks. Where there are few it is a whole number of rounds.
 *
 * A real gather holds at most 8 + 19 * 510 = 9698 pages, so of a round of 32768 it releases three times that,
 * 88.8 %, in the middle of the unmapping, and the rest at its end. On a virtual machine a gather holds one
 * batch of 510 instead of 19, and a round is shorter in proportion. So must be what a CPU keeps of the frames
 * that a round releases, which is 0.6 % of a real one and would be 10.6 %, and come past the zones' locks:
 * its list holds one batch instead of 6. Batches, pagevecs and stocks are of their real size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lab/workload.h"

#define PAGE_BYTES 4096ull
#define REAL_PAGES 32768ull             /* of a round: 128 MiB */
#define BASE       ((uintptr_t)1 << 40) /* of the first task's memory */
#define DISTANCE   (256ull << 20)       /* from one task's memory to the next */
#define LEVELS     3u

/* On a virtual machine. */
#define SHORT_BATCHES 1u
#define SHORT_PAGES   (REAL_PAGES * (8 + SHORT_BATCHES * 510) / (8 + 19 * 510))

/*
 * In exploration a round is more than a pagevec, and two of them more than a stock; so charging, adding to
 * the LRU and releasing each meet their like of another CPU.
 */
#define SMALL_PAGES  20u
#define SMALL_ROUNDS 2u

/* So many tasks together make whole rounds by themselves. */
#define MANY_TASKS 64u

enum option { GROUP, SPACES, ROUND, OPTIONS };
enum group { ROOT, ONE, EACH, DEEP };
enum spaces { SPACE_EACH, SPACE_ONE };
enum round { ROUND_SHORT, ROUND_REAL };

static const struct workload_option options[OPTIONS] = {
    [GROUP] = {"group", {"root", "one", "each", "deep"}},
    [SPACES] = {"spaces", {"each", "one"}},
    [ROUND] = {"round", {"short", "real"}},
};

/* What one CPU does and how it went; the CPUs share no cache line of it. Shared memory: on linux tasks are
 * processes. */
struct worker {
	CACHE_LINE_ALIGNED unsigned space;
	uintptr_t start; /* of its memory */
	uint64_t next;   /* page of it to touch next */
	uint64_t touches;
	int error;
	const char *failed;
};

struct group_release {
	const struct engine *engine;
	const struct workload_size *size;
	uint64_t round; /* pages of it */
	struct worker *workers;
	struct engine_statistics before, after;
	struct message *why;
	int error; /* of the check, after the run */
};

static int choice(const struct workload_size *size, enum option option)
{
	return size->settings.choice[option];
}

static bool is_short(const struct workload_size *size)
{
	return size->simulated && choice(size, ROUND) == ROUND_SHORT;
}

static uint64_t round_pages(const struct workload_size *size)
{
	if (size->small)
		return SMALL_PAGES;
	return is_short(size) ? SHORT_PAGES : REAL_PAGES;
}

static unsigned gather_batches(const struct workload_size *size)
{
	return is_short(size) ? SHORT_BATCHES : 0;
}

/* One is still more than in proportion. */
static unsigned pcp_batches(const struct workload_size *size)
{
	return is_short(size) ? 1 : 0;
}

/*
 * RAM that nobody runs short of, on no node, though tasks may sit on few of them. It is address space, and
 * memory only where it is used.
 */
static uint64_t memory_bytes(const struct workload_size *size)
{
	return 8 * size->cpus * round_pages(size) * PAGE_BYTES + (32ull << 30);
}

static const char *refusal(const struct engine *engine)
{
	return engine->map_anon ? NULL : "it maps no anonymous memory";
}

static int map(struct group_release *run, struct worker *worker)
{
	worker->next = 0;
	worker->failed = "mapping its memory";
	return run->engine->map_anon(worker->space, worker->start, run->round * PAGE_BYTES, false);
}

static int touch_next(struct group_release *run, struct worker *worker)
{
	int error;

	if (worker->next == run->round) {
		worker->failed = "unmapping its memory";
		error = run->engine->unmap(worker->space, worker->start, run->round * PAGE_BYTES);
		if (!error)
			error = map(run, worker);
		if (error)
			return error;
	}
	worker->failed = "touching a page";
	worker->touches++;
	return run->engine->touch(worker->space, worker->start + worker->next++ * PAGE_BYTES, true);
}

static int touch_pages(struct group_release *run, struct worker *worker, uint64_t pages)
{
	int error = 0;

	for (uint64_t i = 0; i < pages && !error; i++)
		error = touch_next(run, worker);
	return error;
}

static uint64_t window(const struct group_release *run)
{
	uint64_t pages = run->size->measured;

	if (run->size->small)
		return SMALL_ROUNDS * run->round;
	if (run->size->cpus >= MANY_TASKS)
		return pages;
	return (pages + run->round - 1) / run->round * run->round;
}

/*
 * How much of a round a task has done when all begin. Those of any number of tasks lie about evenly in it,
 * and so do those of the tasks of one socket: each is 0.618 of a round behind the one before.
 */
static uint64_t begun(uint64_t pages, unsigned cpu)
{
	const uint32_t part = cpu * 0x9e3779b9u;

	return (pages + 1) * part >> 32;
}

/* Runs on every CPU. After an error it still has a window, for which the others wait. */
static void body(unsigned cpu, void *argument)
{
	struct group_release *run = argument;
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;
	uint64_t pages = window(run);

	worker->error = touch_pages(run, worker, begun(run->round, cpu));
	engine->barrier();
	if (!worker->error)
		worker->error = touch_pages(run, worker, run->size->warm_up);
	engine->measure_begin();
	for (uint64_t i = 0; i < pages && !worker->error; i++) {
		worker->error = touch_next(run, worker);
		engine->count_operations(1);
	}
	engine->measure_end();
	while (!worker->error && engine->measure_active())
		worker->error = touch_next(run, worker);
}

/* Makes the groups, and returns that of the space of number `space`. */
static int make_group(struct group_release *run, unsigned space, unsigned *group)
{
	const struct engine *engine = run->engine;
	enum group wanted = (enum group)choice(run->size, GROUP);
	unsigned levels = wanted == DEEP ? LEVELS : 1;
	int error = 0;

	*group = 0;
	if (wanted == ROOT)
		return 0;
	if (wanted == EACH) {
		*group = space + 1;
		return engine->group_create(*group, 0);
	}
	for (*group = 0; *group < levels && !error; (*group)++)
		error = space ? 0 : engine->group_create(*group + 1, *group);
	return error;
}

static int no_group(struct group_release *run, int error)
{
	if (run->engine->kernel)
		return message_set(
		    run->why, error,
		    "no control group that counts memory can be made: %s; it takes root, and a "
		    "cgroup filesystem that is not read-only, as a container's is; group root "
		    "needs none",
		    strerror(-error));
	return message_set(run->why, error, "a memory group cannot be made: %s", strerror(-error));
}

static int make_space(struct group_release *run, unsigned space, const char **failed)
{
	unsigned group;
	int error = make_group(run, space, &group);

	if (error) {
		run->error = no_group(run, error);
		return 0;
	}
	*failed = "making its address space";
	return group ? run->engine->space_create_in(space, group) : run->engine->space_create(space);
}

/* Runs once, before. */
static void set_up(void *argument)
{
	struct group_release *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		struct worker *worker = &run->workers[cpu];

		worker->space = choice(run->size, SPACES) == SPACE_EACH ? cpu : 0;
		worker->start = BASE + cpu * DISTANCE;
		if (worker->space == cpu)
			worker->error = make_space(run, cpu, &worker->failed);
		if (run->error)
			return;
		if (!worker->error)
			worker->error = map(run, worker);
		if (worker->error)
			return;
	}
	run->engine->statistics(&run->before);
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct group_release *run = argument;

	run->engine->statistics(&run->after);
	run->error = run->engine->check(run->why);
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		if (!run->error && run->engine->unmap(run->workers[cpu].space, run->workers[cpu].start,
						      run->round * PAGE_BYTES))
			run->error =
			    message_set(run->why, -EIO, "the memory of CPU %u cannot be unmapped", cpu);
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		if (run->workers[cpu].space == cpu)
			run->engine->space_destroy(cpu);
	if (!run->error)
		run->error = run->engine->check(run->why);
}

/* The first CPU's error, or what the check found. */
static int first_error(void *argument)
{
	const struct group_release *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		const struct worker *worker = &run->workers[cpu];

		if (worker->error)
			return workload_cpu_failed(cpu, worker->error, worker->failed, run->why);
	}
	return run->error;
}

static int check_faults(const struct group_release *run)
{
	uint64_t touches = 0;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		touches += run->workers[cpu].touches;
	return workload_check_faults(&run->before, &run->after, touches, run->why);
}

static const struct workload_phases phases = {
    .set_up = set_up, .body = body, .tear_down = check_and_tear_down, .error = first_error};

static int run(const struct engine *engine, const struct workload_size *size,
	       struct workload_outcome *outcome, struct message *why)
{
	struct group_release run = {.engine = engine, .size = size, .round = round_pages(size), .why = why};
	const size_t bytes = size->cpus * sizeof(*run.workers);
	int error;

	if (choice(size, GROUP) != ROOT && !engine->group_create)
		return message_set(why, -EOPNOTSUPP, "engine %s has no memory groups", engine->name);
	run.workers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run.workers == MAP_FAILED)
		return message_set(why, -ENOMEM, "out of memory for %u CPUs", size->cpus);
	error = workload_run_phases(engine, size, &phases, &run, &outcome->timing, why);
	if (!error && !size->unchecked)
		error = check_faults(&run);
	outcome->statistics = run.after;
	munmap(run.workers, bytes);
	return error;
}

const struct workload workload_group_release = {
    .name = "group_release",
    .operation = "fault",
    .structure_only = true,
    .options = options,
    .option_count = OPTIONS,
    .memory_bytes = memory_bytes,
    .gather_batches = gather_batches,
    .pcp_batches = pcp_batches,
    .refusal = refusal,
    .run = run,
};
