/* SPDX-License-Identifier: MIT */
/*
 * The threads of one process fault on one shared object, which has no page when they begin: each reads one
 * byte of every page of its own slice. One operation is one such read.
 *
 * This is the program of seed 000. There 64 threads had 256 MiB each of one mapping of 16 GiB; a slice here
 * is as large, and larger only where a run is to be longer than that. The options:
 *
 *   layout   slices: as the program did. same: every thread touches every page of one slice, all in the same
 *            order, so that several fault on one page at once; who comes to a page that another has mapped
 *            does not fault.
 *   backing  anon: the object is what MAP_SHARED | MAP_ANONYMOUS makes, as the program had it. file: a file
 * of a memory file system.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workload.h"

#define PAGE_BYTES  4096ull
#define TABLE_PAGES 512ull               /* that one page table of the last level maps */
#define BASE        ((uintptr_t)1 << 40) /* of the mapping */
#define SPACE       0u

enum option { LAYOUT, BACKING, OPTIONS };
enum layout { SLICES, SAME };
enum backing { ANON, FILE_IN_MEMORY };

static const struct workload_option options[OPTIONS] = {
    [LAYOUT] = {"layout", {"slices", "same"}},
    [BACKING] = {"backing", {"anon", "file"}},
};

/* What one CPU does and how it went; the CPUs share no cache line of it. */
struct worker {
	CACHE_LINE_ALIGNED uintptr_t start; /* of its slice */
	uint64_t next;                      /* page of the slice to touch next */
	int error;
};

struct shared_fault {
	const struct engine *engine;
	const struct workload_size *size;
	uint64_t slice_pages;
	struct worker *workers;
	struct engine_statistics before, after;
	const char *failed; /* of the setting up */
	struct message *why;
	int error; /* of the setting up, or of the check after the run */
};

static int choice(const struct workload_size *size, enum option option)
{
	return size->settings.choice[option];
}

/* Whole page tables, so that no two slices meet in one. */
static uint64_t slice_pages(const struct workload_size *size)
{
	uint64_t touched = size->warm_up + size->measured;
	uint64_t pages = touched > size->published ? touched : size->published;

	return (pages + TABLE_PAGES - 1) / TABLE_PAGES * TABLE_PAGES;
}

static uint64_t object_bytes(const struct workload_size *size)
{
	return (choice(size, LAYOUT) == SAME ? 1 : size->cpus) * slice_pages(size) * PAGE_BYTES;
}

/* RAM that nobody runs short of, on no node, though threads may sit on few of them: a simulated run touches
 * little of the object, and a real one has one node. */
static uint64_t memory_bytes(const struct workload_size *size)
{
	return object_bytes(size) + (256ull << 20);
}

static const char *refusal(const struct engine *engine)
{
	return engine->map_anon && engine->file_map ? NULL : "it maps no shared memory";
}

static int touch_next(struct shared_fault *run, struct worker *worker)
{
	return run->engine->touch(SPACE, worker->start + worker->next++ * PAGE_BYTES, false);
}

/*
 * Runs on every CPU. After an error it still has a window, for which the others wait. While others measure,
 * each goes on to the end of its slice; there it stops, as the program's threads did.
 */
static void body(unsigned cpu, void *argument)
{
	struct shared_fault *run = argument;
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;
	int error = 0;

	for (uint64_t i = 0; !error && i < run->size->warm_up; i++)
		error = touch_next(run, worker);
	engine->measure_begin();
	for (uint64_t i = 0; !error && i < run->size->measured; i++) {
		error = touch_next(run, worker);
		engine->count_operations(1);
	}
	engine->measure_end();
	while (!error && worker->next < run->slice_pages && engine->measure_active())
		error = touch_next(run, worker);
	worker->error = error;
}

static int map_object(const struct shared_fault *run)
{
	uint64_t bytes = object_bytes(run->size);

	int error;

	if (choice(run->size, BACKING) != FILE_IN_MEMORY)
		return run->engine->map_anon(SPACE, BASE, bytes, true);
	error = run->engine->file_create(0, bytes, false);
	if (!error)
		error = run->engine->file_map(SPACE, BASE, bytes, 0, 0);
	run->engine->file_close(0);
	return error;
}

/* Runs once, before. */
static void set_up(void *argument)
{
	struct shared_fault *run = argument;
	uint64_t distance = choice(run->size, LAYOUT) == SAME ? 0 : run->slice_pages * PAGE_BYTES;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		run->workers[cpu].start = BASE + cpu * distance;
	run->failed = "making the address space";
	run->error = run->engine->space_create(SPACE);
	if (run->error)
		return;
	run->failed = "mapping the memory of all";
	run->error = map_object(run);
	run->engine->statistics(&run->before);
}

/*
 * A touch that found its page there would make faults look cheap. Where all touch the same pages that is as
 * it should be, but not that nobody faulted on a page.
 */
static int check_faults(const struct shared_fault *run)
{
	uint64_t faults = run->after.faults - run->before.faults, touches = 0;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		uint64_t own = run->workers[cpu].next;

		if (choice(run->size, LAYOUT) == SLICES)
			touches += own;
		else if (own > touches)
			touches = own;
	}
	if (faults >= touches)
		return 0;
	return message_set(run->why, -EIO,
			   "only %llu faults on %llu pages: this measures something else than faults",
			   (unsigned long long)faults, (unsigned long long)touches);
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct shared_fault *run = argument;

	run->engine->statistics(&run->after);
	run->failed = NULL;
	run->error = run->engine->check(run->why);
	if (run->engine->unmap(SPACE, BASE, object_bytes(run->size)) && !run->error)
		run->error = message_set(run->why, -EIO, "the memory of all cannot be unmapped");
	run->engine->space_destroy(SPACE);
	if (!run->error)
		run->error = run->engine->check(run->why);
	if (!run->error)
		run->error = check_faults(run);
}

/* What went wrong in the setting up or the check; else the first CPU's error. */
static int first_error(void *argument)
{
	const struct shared_fault *run = argument;

	if (run->error && run->failed)
		return workload_cpu_failed(0, run->error, run->failed, run->why);
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		if (run->workers[cpu].error)
			return workload_cpu_failed(cpu, run->workers[cpu].error, "touching a page", run->why);
	return run->error;
}

static const struct workload_phases phases = {
    .set_up = set_up, .body = body, .tear_down = check_and_tear_down, .error = first_error};

static int run(const struct engine *engine, const struct workload_size *size,
	       struct workload_outcome *outcome, struct message *why)
{
	struct shared_fault run = {
	    .engine = engine, .size = size, .slice_pages = slice_pages(size), .why = why};
	int error;

	run.workers = aligned_alloc(CACHE_LINE_BYTES, size->cpus * sizeof(*run.workers));
	if (!run.workers)
		return message_set(why, -ENOMEM, "out of memory for %u CPUs", size->cpus);
	memset(run.workers, 0, size->cpus * sizeof(*run.workers));
	error = workload_run_phases(engine, size, &phases, &run, &outcome->timing, why);
	outcome->statistics = run.after;
	free(run.workers);
	return error;
}

const struct workload workload_shared_fault = {
    .name = "shared_fault",
    .operation = "page read",
    .options = options,
    .option_count = OPTIONS,
    .populate = true,
    .memory_bytes = memory_bytes,
    .refusal = refusal,
    .run = run,
};
