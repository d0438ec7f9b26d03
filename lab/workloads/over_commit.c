/* SPDX-License-Identifier: MIT */
/*
 * The threads of a process touch anonymous memory of twice what their group may have, so that half of it is
 * in swap at any time. One operation is a touch, one in four of them a write.
 *
 *   pattern  uniform: every page as often as any other. zipf: page number n in a random order is touched 1 /
 * n as often as the first
 *
 * Each CPU notes what it touches and when. From that the lab computes what memory of the same size with exact
 * LRU replacement would have done: how many touches would have found their page, and how many pages would
 * have had to be written. The group's room is what its limit leaves beside page tables.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "lab/ideal_lru.h"
#include "lab/workload.h"

#define PAGE_BYTES  4096ull
#define TABLE_PAGES 512u
#define SPACE       0u
#define GROUP       1u
#define BASE        ((uintptr_t)1 << 40)

#define LIMIT_PAGES   1536u
#define WORKING_PAGES (2u * LIMIT_PAGES)
#define WRITE_EVERY   4u

/* While others measure, a CPU goes on: at most so many times its own touches are noted. */
#define SLACK 8u

enum pattern { UNIFORM, ZIPF };
static const struct workload_option options[] = {{"pattern", {"uniform", "zipf"}}};

enum figure { FAULT_RATE, HITS, IDEAL_HITS, WRITES, IDEAL_WRITES, AMPLIFICATION, SCANNED, USELESS, FIGURES };

static const struct workload_figure figures[FIGURES] = {
    [FAULT_RATE] = {"faults a second, of all CPUs", "1/s"},
    [HITS] = {"touches that found their page in memory", "%"},
    [IDEAL_HITS] = {"the same with exact LRU", "%"},
    [WRITES] = {"written to swap for 1000 touches", "pages"},
    [IDEAL_WRITES] = {"the same with exact LRU", "pages"},
    [AMPLIFICATION] = {"write amplification against exact LRU", "times"},
    [SCANNED] = {"scanned for each page reclaimed", "pages"},
    [USELESS] = {"read ahead, of all that was read", "%"},
};

/* One touch, as it was. */
struct touch {
	uint64_t ns;
	uint32_t page : 31, write : 1;
	uint32_t cpu;
};

/* What one CPU does and how it went; the CPUs share no cache line of it. */
struct worker {
	CACHE_LINE_ALIGNED struct random random;
	struct touch *touches; /* [room] */
	uint64_t count, room;
	uint64_t warm; /* how many came before the counts were taken */
	int error;
	const char *failed;
};

/* What CPU 0 takes while all wait. */
struct snapshot {
	struct engine_pressure pressure;
	struct engine_statistics statistics;
	uint64_t ns;
};

struct over_commit {
	const struct engine *engine;
	const struct workload_size *size;
	struct worker *workers;
	uint32_t *order;    /* of the pages, by popularity */
	double *cumulative; /* of zipf: the share of the first n + 1 */
	struct snapshot before, after;
	struct message *why;
	const char *failed; /* in setting up */
	int error;
};

/* RAM that nobody runs short of but by the limit. */
static uint64_t memory_bytes(const struct workload_size *size)
{
	return 4 * WORKING_PAGES * PAGE_BYTES + size->cpus * (4ull << 20);
}

static const char *refusal(const struct engine *engine)
{
	return engine->group_set_limit ? NULL : "it has no memory groups with limits";
}

static uint32_t draw_rank(const struct over_commit *run, struct random *random)
{
	double wanted = (double)(random_next(random) >> 11) / (double)(1ull << 53);
	uint32_t low = 0, high = WORKING_PAGES - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (run->cumulative[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int touch_next(struct over_commit *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	bool write = !random_below(&worker->random, WRITE_EVERY);
	uint32_t rank = run->size->settings.choice[0] == ZIPF
			    ? draw_rank(run, &worker->random)
			    : (uint32_t)random_below(&worker->random, WORKING_PAGES);
	uint32_t page = run->order[rank];

	worker->failed = "touching a page";
	if (worker->count < worker->room)
		worker->touches[worker->count++] =
		    (struct touch){.ns = run->engine->clock_ns(), .page = page, .write = write, .cpu = cpu};
	return run->engine->touch(SPACE, BASE + page * PAGE_BYTES, write);
}

static void take_snapshot(const struct over_commit *run, struct snapshot *snapshot)
{
	snapshot->ns = run->engine->clock_ns();
	run->engine->pressure(&snapshot->pressure);
	run->engine->statistics(&snapshot->statistics);
}

/* Each page is written once, so that it is there or in swap. */
static int write_all(struct over_commit *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	int error = 0;

	worker->failed = "making its pages";
	for (uint32_t page = cpu; page < WORKING_PAGES && !error; page += run->size->cpus)
		error = run->engine->touch(SPACE, BASE + page * PAGE_BYTES, true);
	return error;
}

/* Runs on every CPU. After an error it still has a window, for which the others wait. */
static void body(unsigned cpu, void *argument)
{
	struct over_commit *run = argument;
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;

	worker->error = write_all(run, cpu);
	engine->barrier();
	for (uint64_t i = 0; i < run->size->warm_up && !worker->error; i++)
		worker->error = touch_next(run, cpu);
	worker->warm = worker->count;
	engine->barrier();
	if (!cpu)
		take_snapshot(run, &run->before);
	engine->barrier();
	engine->measure_begin();
	for (uint64_t i = 0; i < run->size->measured && !worker->error; i++) {
		worker->error = touch_next(run, cpu);
		engine->count_operations(1);
	}
	engine->measure_end();
	while (!worker->error && worker->count < worker->room && engine->measure_active())
		worker->error = touch_next(run, cpu);
	engine->barrier();
	if (!cpu)
		take_snapshot(run, &run->after);
}

static int make_memory(struct over_commit *run)
{
	const struct engine *engine = run->engine;
	int error;

	run->failed = "making a group with a limit";
	error = engine->group_create(GROUP, 0);
	if (!error)
		error = engine->group_set_limit(GROUP, LIMIT_PAGES * PAGE_BYTES);
	if (!error && engine->swap_add) {
		run->failed = "adding swap";
		error = engine->swap_add(4 * WORKING_PAGES * PAGE_BYTES);
	}
	if (error)
		return error;
	run->failed = "making the address space";
	error = engine->space_create_in(SPACE, GROUP);
	return error ? error : engine->map_anon(SPACE, BASE, WORKING_PAGES * PAGE_BYTES, false);
}

/* Runs once, before. */
static void set_up(void *argument)
{
	struct over_commit *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		random_seed(&run->workers[cpu].random, run->size->seed * 1024 + cpu);
	run->error = make_memory(run);
	if (run->error)
		message_set(run->why, run->error, "%s failed: %s", run->failed, strerror(-run->error));
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct over_commit *run = argument;

	run->error = run->engine->check(run->why);
	run->engine->space_destroy(SPACE);
	if (!run->error)
		run->error = run->engine->check(run->why);
}

static int first_error(void *argument)
{
	const struct over_commit *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		if (run->workers[cpu].error)
			return workload_cpu_failed(cpu, run->workers[cpu].error, run->workers[cpu].failed,
						   run->why);
	return run->error;
}

static const struct workload_phases phases = {
    .set_up = set_up, .body = body, .tear_down = check_and_tear_down, .error = first_error};

static int by_time(const void *left, const void *right)
{
	const struct touch *one = left, *other = right;

	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return one->cpu < other->cpu ? -1 : one->cpu > other->cpu;
}

/* All CPUs' touches in the order in which they came; the caller frees them. */
static struct touch *all_touches(const struct over_commit *run, uint64_t *count)
{
	struct touch *all;
	uint64_t used = 0;

	*count = 0;
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		*count += run->workers[cpu].count;
	all = calloc(*count + 1, sizeof(*all));
	for (unsigned cpu = 0; all && cpu < run->size->cpus; cpu++) {
		memcpy(all + used, run->workers[cpu].touches, run->workers[cpu].count * sizeof(*all));
		used += run->workers[cpu].count;
	}
	if (all)
		qsort(all, *count, sizeof(*all), by_time);
	return all;
}

/* What exact LRU would have done with the touches from the first snapshot on. */
struct ideal {
	uint64_t touches, hits, writes;
};

static int compute_ideal(const struct over_commit *run, struct ideal *ideal)
{
	/* The lowest tables, and one of each level above. */
	const uint32_t room = LIMIT_PAGES - WORKING_PAGES / TABLE_PAGES - 3;
	struct ideal_lru *lru = ideal_lru_create(WORKING_PAGES, room);
	uint64_t count;
	struct touch *all = all_touches(run, &count);
	bool written;

	for (uint32_t page = 0; lru && page < WORKING_PAGES; page++)
		ideal_lru_touch(lru, page, true, &written);
	for (uint64_t i = 0; lru && all && i < count; i++) {
		bool hit = ideal_lru_touch(lru, all[i].page, all[i].write, &written);

		if (all[i].ns < run->before.ns)
			continue;
		ideal->touches++;
		ideal->hits += hit;
		ideal->writes += written;
	}
	ideal_lru_destroy(lru);
	free(all);
	return lru && all ? 0 : -ENOMEM;
}

static double part(uint64_t of, uint64_t in, double scale)
{
	return in ? scale * (double)of / (double)in : NAN;
}

static int sum_up(const struct over_commit *run, struct workload_outcome *outcome)
{
	const struct engine_pressure *before = &run->before.pressure, *after = &run->after.pressure;
	struct ideal ideal = {0};
	int error = compute_ideal(run, &ideal);
	uint64_t missed = after->touched_in - before->touched_in;
	uint64_t written = after->swapped_out - before->swapped_out;
	uint64_t read = after->swapped_in - before->swapped_in;
	double *figure = outcome->figures;

	figure[FAULT_RATE] = part(run->after.statistics.faults - run->before.statistics.faults,
				  run->after.ns - run->before.ns, 1e9);
	figure[HITS] = 100 - part(missed, ideal.touches, 100);
	figure[IDEAL_HITS] = part(ideal.hits, ideal.touches, 100);
	figure[WRITES] = part(written, ideal.touches, 1000);
	figure[IDEAL_WRITES] = part(ideal.writes, ideal.touches, 1000);
	figure[AMPLIFICATION] = part(written, ideal.writes, 1);
	figure[SCANNED] = part(after->scanned - before->scanned, after->reclaimed - before->reclaimed, 1);
	figure[USELESS] = part(read - missed, read, 100);
	return error;
}

static int make_order(struct over_commit *run)
{
	struct random random;
	double sum = 0;

	run->order = calloc(WORKING_PAGES, sizeof(*run->order));
	run->cumulative = calloc(WORKING_PAGES, sizeof(*run->cumulative));
	if (!run->order || !run->cumulative)
		return -ENOMEM;
	random_seed(&random, run->size->seed);
	for (uint32_t i = 0; i < WORKING_PAGES; i++) {
		uint32_t other = (uint32_t)random_below(&random, i + 1);

		run->order[i] = run->order[other];
		run->order[other] = i;
		sum += 1.0 / (i + 1);
		run->cumulative[i] = sum;
	}
	for (uint32_t i = 0; i < WORKING_PAGES; i++)
		run->cumulative[i] /= sum;
	return 0;
}

/* Shared memory: on the running kernel the tasks are processes. */
static void *shared_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int run(const struct engine *engine, const struct workload_size *size,
	       struct workload_outcome *outcome, struct message *why)
{
	uint64_t room = SLACK * (size->warm_up + size->measured);
	size_t bytes = size->cpus * sizeof(struct worker), notes = size->cpus * room * sizeof(struct touch);
	struct over_commit *run = shared_memory(sizeof(*run));
	struct worker *workers = shared_memory(bytes);
	struct touch *touches = shared_memory(notes);
	int error = -ENOMEM;

	if (run && workers && touches) {
		*run = (struct over_commit){.engine = engine, .size = size, .workers = workers, .why = why};
		for (unsigned cpu = 0; cpu < size->cpus; cpu++) {
			workers[cpu].touches = touches + cpu * room;
			workers[cpu].room = room;
		}
		error = make_order(run);
	}
	if (error)
		message_set(why, error, "out of memory for %u CPUs", size->cpus);
	else
		error = workload_run_phases(engine, size, &phases, run, &outcome->timing, why);
	if (!error && sum_up(run, outcome))
		error = message_set(why, -ENOMEM, "out of memory for what exact LRU would do");
	if (run) {
		free(run->order);
		free(run->cumulative);
		munmap(run, sizeof(*run));
	}
	if (workers)
		munmap(workers, bytes);
	if (touches)
		munmap(touches, notes);
	return error;
}

const struct workload workload_over_commit = {
    .name = "over_commit",
    .operation = "reference",
    .options = options,
    .option_count = ARRAY_SIZE(options),
    .figures = figures,
    .figure_count = FIGURES,
    .memory_bytes = memory_bytes,
    .refusal = refusal,
    .run = run,
};
