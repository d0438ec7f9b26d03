/* SPDX-License-Identifier: MIT */
/*
 * The threads of one process fault on anonymous memory: each touches every page of its slice, gives the pages
 * back, and begins again. One operation is one fault.
 *
 * Seed 003 shows the profile of a program called multi-fault-all and not the program. Its author posted it
 * on 25 December 2009, to the same list and in the same matter: each thread has 2 MiB, 8 MiB from its
 * neighbour's so that no two share a page table; all wait for each other, write to each page, wait for each
 * other, and give the pages back by MADV_DONTNEED. These are the defaults here. The options:
 *
 *   layout     one: all slices lie in one VMA. each: a VMA a thread, with room between them.
 *   touch      write, or read: a read gets the page of zeroes.
 *   give_back  dontneed: as the program did. unmap: the slice is unmapped and mapped anew. never: the thread
 *              goes on to memory that nobody has touched, so that page tables grow all the time.
 *   pace       together: all touch at once, and give back at once, as the program did. apart: no thread waits
 *              for another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workload.h"

#define PAGE_BYTES  4096ull
#define ROUND_PAGES 512ull               /* that are touched before they are given back: 2 MiB */
#define TABLE_BYTES (2ull << 20)         /* that one page table of the last level maps */
#define DISTANCE    (8ull << 20)         /* from a thread's slice to the next, or more */
#define BASE        ((uintptr_t)1 << 40) /* of the first slice */
#define SPACE       0u

enum option { LAYOUT, TOUCH, GIVE_BACK, PACE, OPTIONS };
enum layout { ONE, EACH };
enum touch { WRITE, READ };
enum give_back { DONTNEED, UNMAP, NEVER };
enum pace { TOGETHER, APART };

static const struct workload_option options[OPTIONS] = {
    [LAYOUT] = {"layout", {"one", "each"}},
    [TOUCH] = {"touch", {"write", "read"}},
    [GIVE_BACK] = {"give_back", {"dontneed", "unmap", "never"}},
    [PACE] = {"pace", {"together", "apart"}},
};

/* What one CPU does and how it went; the CPUs share no cache line of it. */
struct worker {
	CACHE_LINE_ALIGNED uintptr_t start; /* of its slice */
	uint64_t next;                      /* page of the slice to touch next */
	uint64_t touches;
	int error;
	const char *failed;
};

struct anon_fault {
	const struct engine *engine;
	const struct workload_size *size;
	uint64_t slice_bytes, distance;
	struct worker *workers;
	struct engine_statistics before, after;
	struct message *why;
	int error; /* of the check, after the run */
};

static int choice(const struct workload_size *size, enum option option)
{
	return size->settings.choice[option];
}

/* A slice that is never given back has room for all that its thread touches, and as much again for what it
 * touches while others still measure. */
static uint64_t slice_bytes(const struct workload_size *size)
{
	uint64_t bytes = ROUND_PAGES * PAGE_BYTES;

	if (choice(size, GIVE_BACK) == NEVER)
		bytes = 2 * (size->warm_up + size->measured) * PAGE_BYTES;
	return (bytes + TABLE_BYTES - 1) / TABLE_BYTES * TABLE_BYTES;
}

/*
 * RAM that nobody runs short of, on no node, though threads may sit on few of them: as on a real machine. It
 * is address space, and memory only where it is used.
 */
static uint64_t memory_bytes(const struct workload_size *size)
{
	return 8 * size->cpus * slice_bytes(size) + (4ull << 30);
}

static const char *refusal(const struct engine *engine)
{
	return engine->map_anon ? NULL : "it maps no anonymous memory";
}

static int map_slice(struct anon_fault *run, struct worker *worker)
{
	worker->failed = "mapping its memory";
	return run->engine->map_anon(SPACE, worker->start, run->slice_bytes, false);
}

/* Gives back the pages of the slice that were touched. */
static int give_back(struct anon_fault *run, struct worker *worker)
{
	uint64_t bytes = worker->next * PAGE_BYTES;
	int error;

	if (choice(run->size, GIVE_BACK) == NEVER && bytes < run->slice_bytes)
		return 0;
	worker->next = 0;
	if (choice(run->size, GIVE_BACK) == UNMAP) {
		worker->failed = "unmapping its memory";
		error = run->engine->unmap(SPACE, worker->start, run->slice_bytes);
		return error ? error : map_slice(run, worker);
	}
	worker->failed = "giving its pages back";
	return run->engine->dontneed(SPACE, worker->start, bytes);
}

static void wait_for_others(const struct anon_fault *run)
{
	if (choice(run->size, PACE) == TOGETHER)
		run->engine->barrier();
}

/* Touches `pages` pages, at most ROUND_PAGES, and gives them back. */
static int go_round(struct anon_fault *run, struct worker *worker, uint64_t pages)
{
	bool write = choice(run->size, TOUCH) == WRITE;
	int error = 0;

	wait_for_others(run);
	for (uint64_t i = 0; i < pages && worker->next * PAGE_BYTES < run->slice_bytes && !error; i++) {
		worker->failed = "touching a page";
		error = run->engine->touch(SPACE, worker->start + worker->next * PAGE_BYTES, write);
		worker->next++;
		worker->touches++;
		run->engine->count_operations(1);
	}
	wait_for_others(run);
	return error ? error : give_back(run, worker);
}

static int touch_pages(struct anon_fault *run, struct worker *worker, uint64_t pages)
{
	int error = 0;

	while (!error && pages) {
		uint64_t now = pages < ROUND_PAGES ? pages : ROUND_PAGES;

		error = go_round(run, worker, now);
		pages -= now;
	}
	return error;
}

/*
 * Runs on every CPU. After an error it still has a window, for which the others wait. In step with each other
 * all come to the end of their windows within one round; else each goes on until all have.
 */
static void body(unsigned cpu, void *argument)
{
	struct anon_fault *run = argument;
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;

	worker->error = touch_pages(run, worker, run->size->warm_up);
	wait_for_others(run);
	engine->measure_begin();
	if (!worker->error)
		worker->error = touch_pages(run, worker, run->size->measured);
	engine->measure_end();
	while (!worker->error && choice(run->size, PACE) == APART && engine->measure_active())
		worker->error = touch_pages(run, worker, ROUND_PAGES);
}

/* Runs once, before. */
static void set_up(void *argument)
{
	struct anon_fault *run = argument;
	unsigned mappings = choice(run->size, LAYOUT) == EACH ? run->size->cpus : 0;

	run->workers[0].failed = "making the address space";
	run->workers[0].error = run->engine->space_create(SPACE);
	if (run->workers[0].error)
		return;
	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		run->workers[cpu].start = BASE + cpu * run->distance;
	for (unsigned cpu = 0; cpu < mappings; cpu++) {
		run->workers[cpu].error = map_slice(run, &run->workers[cpu]);
		if (run->workers[cpu].error)
			return;
	}
	if (!mappings) {
		run->workers[0].failed = "mapping the memory of all";
		run->workers[0].error =
		    run->engine->map_anon(SPACE, BASE, run->size->cpus * run->distance, false);
	}
	run->engine->statistics(&run->before);
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct anon_fault *run = argument;

	run->engine->statistics(&run->after);
	run->error = run->engine->check(run->why);
	if (!run->error && run->engine->unmap(SPACE, BASE, run->size->cpus * run->distance))
		run->error = message_set(run->why, -EIO, "the memory of all cannot be unmapped");
	run->engine->space_destroy(SPACE);
	if (!run->error)
		run->error = run->engine->check(run->why);
}

/* The first CPU's error, or what the check found. */
static int first_error(void *argument)
{
	const struct anon_fault *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++) {
		const struct worker *worker = &run->workers[cpu];

		if (worker->error)
			return workload_cpu_failed(cpu, worker->error, worker->failed, run->why);
	}
	return run->error;
}

static int check_faults(const struct anon_fault *run)
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
	struct anon_fault run = {
	    .engine = engine, .size = size, .slice_bytes = slice_bytes(size), .why = why};
	int error;

	/* Between two VMAs lies what is not mapped. */
	run.distance = run.slice_bytes + TABLE_BYTES > DISTANCE ? run.slice_bytes + TABLE_BYTES : DISTANCE;
	run.workers = aligned_alloc(CACHE_LINE_BYTES, size->cpus * sizeof(*run.workers));
	if (!run.workers)
		return message_set(why, -ENOMEM, "out of memory for %u CPUs", size->cpus);
	memset(run.workers, 0, size->cpus * sizeof(*run.workers));
	error = workload_run_phases(engine, size, &phases, &run, &outcome->timing, why);
	if (!error && !size->unchecked)
		error = check_faults(&run);
	outcome->statistics = run.after;
	free(run.workers);
	return error;
}

const struct workload workload_anon_fault = {
    .name = "anon_fault",
    .operation = "fault",
    .options = options,
    .option_count = OPTIONS,
    .memory_bytes = memory_bytes,
    .refusal = refusal,
    .run = run,
};
