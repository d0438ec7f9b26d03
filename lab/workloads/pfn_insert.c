/* SPDX-License-Identifier: MIT */
/*
 * Each CPU faults in its own mapping of page frames, page after page; the fault handler inserts one PFN a
 * fault, as the application of seed 002 did. One operation is one insertion.
 *
 * One address space a CPU, that is one process: the message says "one thread per cpu" and gives times that
 * are flat from 32 to 256 CPUs without the memory type lock. Had all threads shared one address space, each
 * fault would have written the count of its lock, and 256 CPUs on one line would not be as fast as 32. So
 * that the spaces were separate is an inference from the figures.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workload.h"

#define PAGE_BYTES 4096ull
#define BASE       ((uintptr_t)1 << 40) /* of each CPU's mapping in its own space */

/* What one CPU does and how it went; the CPUs share no cache line of it. */
struct worker {
	CACHE_LINE_ALIGNED uint64_t next; /* page of the mapping to touch next */
	int error;
	const char *failed;
};

struct pfn_insert {
	const struct engine *engine;
	const struct workload_size *size;
	uint64_t pages; /* in each CPU's mapping */
	struct worker *workers;
	struct message *why;
	int error; /* of the check, after the run */
};

/* As much as was published; more only when a run is to be longer than that. */
static uint64_t pages_mapped(const struct workload_size *size)
{
	uint64_t touched = size->warm_up + size->measured;

	return touched > size->published ? touched : size->published;
}

static uint64_t exported_bytes(const struct workload_size *size)
{
	return size->cpus * pages_mapped(size) * PAGE_BYTES;
}

static const char *refusal(const struct engine *engine)
{
	return engine->map_pfn ? NULL : "a user process cannot insert PFNs into its own page tables";
}

static int map(struct pfn_insert *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];

	worker->next = 0;
	worker->failed = "mapping its page frames";
	return run->engine->map_pfn(cpu, BASE, run->pages * PAGE_BYTES, cpu * run->pages);
}

static int touch_next(struct pfn_insert *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	int error;

	if (worker->next == run->pages) {
		worker->failed = "unmapping its page frames";
		error = run->engine->unmap(cpu, BASE, run->pages * PAGE_BYTES);
		if (!error)
			error = map(run, cpu);
		if (error)
			return error;
	}
	worker->failed = "touching a page";
	return run->engine->touch(cpu, BASE + worker->next++ * PAGE_BYTES, true);
}

/* Runs on every CPU. After an error it still has a window, for which the others wait. */
static void body(unsigned cpu, void *argument)
{
	struct pfn_insert *run = argument;
	const struct engine *engine = run->engine;
	int error = 0;

	for (uint64_t i = 0; !error && i < run->size->warm_up; i++)
		error = touch_next(run, cpu);
	engine->measure_begin();
	for (uint64_t i = 0; !error && i < run->size->measured; i++) {
		error = touch_next(run, cpu);
		engine->count_operations(1);
	}
	engine->measure_end();
	while (!error && engine->measure_active())
		error = touch_next(run, cpu);
	run->workers[cpu].error = error;
}

/*
 * Runs once, before: were each CPU to make its own space, one after the other, the first would be done with
 * its window before the last began, and the window would be of a machine that is partly idle.
 */
static void set_up(void *argument)
{
	struct pfn_insert *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		struct worker *worker = &run->workers[cpu];

		worker->failed = "making its address space";
		worker->error = run->engine->space_create(cpu);
		if (!worker->error)
			worker->error = map(run, cpu);
		if (worker->error)
			return;
	}
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct pfn_insert *run = argument;

	run->error = run->engine->check(run->why);
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		run->engine->space_destroy(cpu);
	if (!run->error)
		run->error = run->engine->check(run->why);
}

/* The first CPU's error, or what the check found. */
static int first_error(void *argument)
{
	const struct pfn_insert *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		const struct worker *worker = &run->workers[cpu];

		if (worker->error)
			return workload_cpu_failed(cpu, worker->error, worker->failed, run->why);
	}
	return run->error;
}

static const struct workload_phases phases = {
    .set_up = set_up, .body = body, .tear_down = check_and_tear_down, .error = first_error};

static int run(const struct engine *engine, const struct workload_size *size,
	       struct workload_outcome *outcome, struct message *why)
{
	struct pfn_insert run = {.engine = engine, .size = size, .pages = pages_mapped(size), .why = why};
	int error;

	run.workers = aligned_alloc(CACHE_LINE_BYTES, size->cpus * sizeof(*run.workers));
	if (!run.workers)
		return message_set(why, -ENOMEM, "out of memory for %u CPUs", size->cpus);
	memset(run.workers, 0, size->cpus * sizeof(*run.workers));
	error = workload_run_phases(engine, size, &phases, &run, &outcome->timing, why);
	free(run.workers);
	return error;
}

const struct workload workload_pfn_insert = {
    .name = "pfn_insert",
    .operation = "insertion",
    .structure_only = true,
    .exported_bytes = exported_bytes,
    .refusal = refusal,
    .run = run,
};
