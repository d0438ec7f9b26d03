/* SPDX-License-Identifier: MIT */
/*
 * A file is copied on a host whose RAM is full, most of it of the memory of a user-mode kernel, a file that
 * many processes map: seed 004. Each page that is wanted is one that reclaim has found by looking at who maps
 * what. One operation is one page copied.
 *
 * The user-mode kernel's memory is one file. Each of its processes is a process of the host that maps the
 * whole file, as the kernel needs it, and pieces of it where the process has its own pages. So a page has as
 * many candidates for mappings as there are processes, and thousands of VMAs map the file. How many processes
 * and pieces there were was not published.
 *
 *   mappings  how many processes: 32, 1, 8, 128
 *   faulters  whose memory a CPU touches: own, that of its own processes; same, that of all, so that CPUs
 *             fault in a space while others scan it; storm: CPU 0 uses the guest's memory and reclaims what
 *             it has used, one operation is one page reclaimed, and all others are threads of one of the
 *             processes, fault in parts of the guest's memory and give them back, all the time
 *
 * The server that copies runs in the user-mode kernel, whose own page cache is in its memory: so for each
 * page that goes from file to file on the host the next page of that memory is written to, round and round;
 * and some others are touched, a quarter of them written to. Each CPU copies its own part of the file. CPU 0
 * also writes back all that is dirty, in file order and in bulk, whenever a tenth of the RAM has become dirty
 * by the copying, as pdflush did (dirty_background_ratio). The dirty bits of mapped pages are in page tables
 * until somebody moves them to the page.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "lab/workload.h"

#define PAGE_BYTES 4096ull

/*
 * RAM in pages, of which the guest's memory is as large a part as of a host that runs a large guest. On the
 * running kernel it is what a control group may have.
 */
#define SIMULATED_RAM_PAGES 4096ull
#define REAL_RAM_PAGES      16384ull
#define GUEST_PART(ram)     ((ram) / 4 * 3)

#define PIECES      64u /* of a process's own */
#define PIECE_PAGES 4u
#define PIECE_GAP   (64ull * PAGE_BYTES)

#define COPY_PAGES  4u
#define TOUCHES     8u  /* of the guest's memory, after each */
#define FLUSH_PART  10u /* all is written back when this part of the RAM has been copied to */
#define WRITE_EVERY 4u  /* one touch in so many writes */

/* On real CPUs a file is no longer than this for each, and is copied over and over. */
#define REAL_PART_PAGES 16384ull

#define STORM_PAGES   64u /* that each of the others touches and gives back */
#define RECLAIM_PAGES 32u /* that CPU 0 uses, and then reclaims */
/* RAM is no bottleneck then: so many times as much, as frames come back after a grace period. */
#define STORM_RAM 4u

#define STORM_BASE  ((uintptr_t)3 << 40)
#define KERNEL_BASE ((uintptr_t)1 << 40)
#define PIECES_BASE ((uintptr_t)2 << 40)

#define GROUP 1u

enum { SOURCE, TARGET, GUEST, FILES };
enum option { MAPPINGS, FAULTERS, OPTIONS };
enum faulters { OWN, SAME, STORM };

static const unsigned processes_of[] = {32, 1, 8, 128};
static const struct workload_option options[OPTIONS] = {
    [MAPPINGS] = {"mappings", {"32", "1", "8", "128"}},
    [FAULTERS] = {"faulters", {"own", "same", "storm"}},
};

enum figure { SCANNED, ENTRIES, SKIPPED, REFAULTS, BULK, CALLS, ALONE, FIGURES };

static const struct workload_figure figures[FIGURES] = {
    [SCANNED] = {"scanned for each page reclaimed", "pages"},
    [ENTRIES] = {"entries looked at for each", "entries"},
    [SKIPPED] = {"of them passed over, being locked", "%"},
    [REFAULTS] = {"came back, for 1000 pages copied", "pages"},
    [BULK] = {"written by a write-back call", "pages"},
    [CALLS] = {"write-back calls for 1000 pages copied", "calls"},
    [ALONE] = {"single pages written by reclaim, for 1000", "pages"},
};

/* What one CPU does and how it went; the CPUs share no cache line of it. */
struct worker {
	CACHE_LINE_ALIGNED uint64_t next; /* page of its part to copy next */
	uint64_t guest_next;              /* page of its part of the guest's memory to use next */
	uint64_t dirtied;                 /* pages that all have copied since the last write-back */
	struct random random;
	int error;
	const char *failed;
};

struct reclaim_copy {
	const struct engine *engine;
	const struct workload_size *size;
	uint64_t ram_pages, guest_pages;
	uint64_t part_pages; /* of each CPU, of the file */
	unsigned processes;
	struct engine_pressure before, after;
	struct engine_statistics statistics;
	struct message *why;
	int error;
	struct worker workers[];
};

static bool is_storm_size(const struct workload_size *size)
{
	return size->settings.choice[FAULTERS] == STORM;
}

static bool is_storm(const struct reclaim_copy *run)
{
	return is_storm_size(run->size);
}

static uint64_t ram_pages(const struct workload_size *size)
{
	return size->simulated ? SIMULATED_RAM_PAGES : REAL_RAM_PAGES;
}

/* Pages that each CPU copies first: together they fill the RAM. */
static uint64_t fill_pages(const struct workload_size *size)
{
	return ram_pages(size) / 2 / size->cpus;
}

/* Whole steps; at its end a CPU begins again. */
static uint64_t part_pages(const struct workload_size *size)
{
	uint64_t pages = fill_pages(size) + size->warm_up + size->measured;

	if (!size->simulated && pages > REAL_PART_PAGES)
		pages = REAL_PART_PAGES;
	return (pages + COPY_PAGES) / COPY_PAGES * COPY_PAGES;
}

static uint64_t memory_bytes(const struct workload_size *size)
{
	uint64_t pages = ram_pages(size) + 64ull * processes_of[size->settings.choice[MAPPINGS]];

	return (is_storm_size(size) ? STORM_RAM : 1) * pages * PAGE_BYTES;
}

static const char *refusal(const struct engine *engine)
{
	return engine->file_copy && engine->group_set_limit ? NULL : "it copies no files";
}

/* Popular pages come first. */
static uint64_t guest_page(struct random *random, uint64_t pages)
{
	uint64_t one = random_below(random, pages), other = random_below(random, pages);

	return one * other / pages;
}

/* Where page `page` of piece number `piece` of a process is, and what it maps. */
static uintptr_t piece_address(unsigned piece)
{
	return PIECES_BASE + piece * PIECE_GAP;
}

static uint64_t piece_start(const struct reclaim_copy *run, unsigned process, unsigned piece)
{
	uint32_t mixed = (process * PIECES + piece + 1) * 0x9e3779b9u;

	return (mixed >> 8) % (run->guest_pages / PIECE_PAGES) * PIECE_PAGES;
}

/* A process whose memory the CPU touches; on the running kernel it is in its own. */
static unsigned draw_process(struct reclaim_copy *run, unsigned cpu)
{
	unsigned cpus = run->size->cpus;
	unsigned process = (unsigned)random_below(&run->workers[cpu].random, run->processes);

	if (run->size->settings.choice[FAULTERS] != OWN)
		return process;
	process = process / cpus * cpus + cpu;
	return process < run->processes ? process : cpu % run->processes;
}

static int touch_process(const struct reclaim_copy *run, unsigned process, struct random *random)
{
	bool write = !random_below(random, WRITE_EVERY);
	uintptr_t address;

	if (random_below(random, 2))
		address = KERNEL_BASE + guest_page(random, run->guest_pages) * PAGE_BYTES;
	else
		address = piece_address((unsigned)guest_page(random, PIECES)) +
			  random_below(random, PIECE_PAGES) * PAGE_BYTES;
	return run->engine->touch(process, address, write);
}

/* The page of the guest's cache through which the next page goes. */
static int use_next(struct reclaim_copy *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	unsigned parts = is_storm(run) ? 1 : run->size->cpus;
	uint64_t pages = run->guest_pages / parts;
	uint64_t page = cpu % parts * pages + worker->guest_next++ % pages;

	return run->engine->touch(draw_process(run, cpu), KERNEL_BASE + page * PAGE_BYTES, true);
}

static int copy_some(struct reclaim_copy *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	uint64_t page = cpu * run->part_pages + worker->next;
	int error;

	worker->failed = "copying a file";
	error = run->engine->file_copy(TARGET, SOURCE, page * PAGE_BYTES, COPY_PAGES * PAGE_BYTES);
	worker->next = (worker->next + COPY_PAGES) % run->part_pages;
	worker->failed = "touching the guest's memory";
	for (unsigned i = 0; i < COPY_PAGES && !error; i++)
		error = use_next(run, cpu);
	for (unsigned i = 0; i < TOUCHES && !error; i++)
		error = touch_process(run, draw_process(run, cpu), &worker->random);
	worker->dirtied += COPY_PAGES * run->size->cpus;
	if (!cpu && run->engine->write_back && worker->dirtied >= run->ram_pages / FLUSH_PART) {
		worker->dirtied = 0;
		run->engine->write_back(run->ram_pages * PAGE_BYTES);
	}
	return error;
}

/* No two page tables are the same, and no two CPUs' pages, as long as the guest has enough. */
static uintptr_t storm_address(unsigned cpu)
{
	return STORM_BASE + ((uintptr_t)cpu << 21);
}

static uint64_t storm_page(const struct reclaim_copy *run, unsigned cpu)
{
	return cpu * STORM_PAGES % (run->guest_pages / STORM_PAGES * STORM_PAGES);
}

/* As long as CPU 0 measures. */
static void storm(struct reclaim_copy *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;
	uintptr_t start = storm_address(cpu);

	engine->measure_begin();
	engine->measure_end();
	worker->failed = "touching memory and giving it back";
	while (!worker->error && engine->measure_active()) {
		for (unsigned i = 0; i < STORM_PAGES && !worker->error; i++)
			worker->error = engine->touch(0, start + i * PAGE_BYTES, false);
		if (!worker->error)
			worker->error = engine->dontneed(0, start, STORM_PAGES * PAGE_BYTES);
	}
}

/* What is measured, and its operations. */
static uint64_t go_on(struct reclaim_copy *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];

	if (!is_storm(run)) {
		worker->error = copy_some(run, cpu);
		return COPY_PAGES;
	}
	worker->failed = "touching the guest's memory";
	for (unsigned i = 0; i < RECLAIM_PAGES && !worker->error; i++)
		worker->error = use_next(run, cpu);
	return run->engine->reclaim(RECLAIM_PAGES * PAGE_BYTES) / PAGE_BYTES;
}

static void measured(struct reclaim_copy *run, unsigned cpu)
{
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;

	engine->measure_begin();
	for (uint64_t done = 0; done < run->size->measured && !worker->error;) {
		uint64_t pages = go_on(run, cpu);

		engine->count_operations(pages);
		done += pages ? pages : 1;
	}
	engine->measure_end();
	while (!worker->error && engine->measure_active())
		go_on(run, cpu);
}

/*
 * Runs on every CPU. After an error it still has a window, for which the others wait. The counts of the
 * system are taken while all wait.
 */
static void body(unsigned cpu, void *argument)
{
	struct reclaim_copy *run = argument;
	struct worker *worker = &run->workers[cpu];
	const struct engine *engine = run->engine;
	bool storms = is_storm(run) && cpu;
	uint64_t before = is_storm(run) ? 0 : run->size->warm_up;

	/* Of the running kernel's memory each process fills its part. */
	if (engine->kernel)
		before += fill_pages(run->size);
	for (uint64_t i = 0; i < before && !worker->error; i += COPY_PAGES)
		worker->error = copy_some(run, cpu);
	engine->barrier();
	if (!cpu)
		engine->pressure(&run->before);
	engine->barrier();
	if (storms)
		storm(run, cpu);
	else
		measured(run, cpu);
	engine->barrier();
	if (!cpu)
		engine->pressure(&run->after);
}

static int make_files(const struct reclaim_copy *run)
{
	uint64_t bytes = run->size->cpus * run->part_pages * PAGE_BYTES;
	int error = run->engine->file_create(SOURCE, bytes, true);

	if (!error)
		error = run->engine->file_create(TARGET, bytes, true);
	return error ? error : run->engine->file_create(GUEST, run->guest_pages * PAGE_BYTES, true);
}

static int map_guest(const struct reclaim_copy *run, unsigned process)
{
	const struct engine *engine = run->engine;
	int error = engine->file_map(process, KERNEL_BASE, run->guest_pages * PAGE_BYTES, GUEST, 0);

	for (unsigned piece = 0; piece < PIECES && !error; piece++)
		error = engine->file_map(process, piece_address(piece), PIECE_PAGES * PAGE_BYTES, GUEST,
					 piece_start(run, process, piece) * PAGE_BYTES);
	for (unsigned cpu = 1; is_storm(run) && !process && cpu < run->size->cpus && !error; cpu++)
		error = engine->file_map(process, storm_address(cpu), STORM_PAGES * PAGE_BYTES, GUEST,
					 storm_page(run, cpu) * PAGE_BYTES);
	return error;
}

/* The running kernel's processes are forked, and have all mappings of the first. */
static int make_processes(const struct reclaim_copy *run)
{
	const struct engine *engine = run->engine;
	int error = engine->kernel ? map_guest(run, 0) : 0;

	for (unsigned process = 0; process < run->processes && !error; process++) {
		error =
		    engine->kernel ? engine->space_create_in(process, GROUP) : engine->space_create(process);
		if (!error && !engine->kernel)
			error = map_guest(run, process);
	}
	return error;
}

/* Takes no time on a simulated machine: the RAM is full, and nothing dirty but by page tables, when it
 * starts. */
static int fill(struct reclaim_copy *run)
{
	const struct engine *engine = run->engine;
	int error = 0;

	for (uint64_t page = 0; is_storm(run) && page < run->guest_pages && !error; page++)
		error = use_next(run, 0);
	for (uint64_t page = 0; !is_storm(run) && page < fill_pages(run->size) && !error; page += COPY_PAGES)
		for (unsigned cpu = 0; cpu < run->size->cpus && !error; cpu++)
			error = copy_some(run, cpu);
	engine->write_back(run->ram_pages * PAGE_BYTES);
	return error;
}

static int make_all(struct reclaim_copy *run, const char **failed)
{
	const struct engine *engine = run->engine;
	int error = 0;

	*failed = "a control group with a limit cannot be made";
	if (engine->kernel)
		error = engine->group_create(GROUP, 0);
	if (engine->kernel && !error)
		error = engine->group_set_limit(GROUP, run->ram_pages * PAGE_BYTES);
	if (error)
		return error;
	*failed = "the files cannot be made";
	error = make_files(run);
	if (error)
		return error;
	*failed = "the guest's processes cannot be made";
	error = make_processes(run);
	if (error || engine->kernel)
		return error;
	*failed = "the RAM cannot be filled";
	return fill(run);
}

/* Runs once, before. */
static void set_up(void *argument)
{
	struct reclaim_copy *run = argument;
	const char *failed;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		random_seed(&run->workers[cpu].random, run->size->seed * 1024 + cpu);
	run->error = make_all(run, &failed);
	if (run->error)
		message_set(run->why, run->error, "%s: %s", failed, strerror(-run->error));
}

/* Runs once, after all CPUs have stopped. */
static void check_and_tear_down(void *argument)
{
	struct reclaim_copy *run = argument;

	run->engine->statistics(&run->statistics);
	run->error = run->engine->check(run->why);
	for (unsigned process = 0; process < run->processes; process++)
		run->engine->space_destroy(process);
	for (unsigned file = SOURCE; file < FILES; file++)
		run->engine->file_close(file);
	if (!run->error)
		run->error = run->engine->check(run->why);
}

static int first_error(void *argument)
{
	const struct reclaim_copy *run = argument;

	for (unsigned cpu = 0; cpu < run->size->cpus; cpu++)
		if (run->workers[cpu].error)
			return workload_cpu_failed(cpu, run->workers[cpu].error, run->workers[cpu].failed,
						   run->why);
	return run->error;
}

static const struct workload_phases phases = {
    .set_up = set_up, .body = body, .tear_down = check_and_tear_down, .error = first_error};

static double part(uint64_t of, uint64_t in, double scale)
{
	return in ? scale * (double)of / (double)in : NAN;
}

static void sum_up(const struct reclaim_copy *run, struct workload_outcome *outcome)
{
	const struct engine_pressure *before = &run->before, *after = &run->after;
	uint64_t reclaimed = after->reclaimed - before->reclaimed;
	uint64_t entries = after->entries - before->entries;
	uint64_t calls = after->write_backs - before->write_backs;
	uint64_t copied = outcome->timing.operations;

	outcome->statistics = run->statistics;
	outcome->workers = is_storm(run) ? 1 : 0;
	outcome->figures[SCANNED] = part(after->scanned - before->scanned, reclaimed, 1);
	outcome->figures[ENTRIES] = entries ? part(entries, reclaimed, 1) : NAN;
	outcome->figures[SKIPPED] = part(after->skipped - before->skipped, entries, 100);
	outcome->figures[REFAULTS] = part(after->refaults - before->refaults, copied, 1000);
	outcome->figures[BULK] = part(after->written_back - before->written_back, calls, 1);
	outcome->figures[CALLS] = run->engine->kernel ? NAN : part(calls, copied, 1000);
	outcome->figures[ALONE] =
	    run->engine->kernel ? NAN : part(after->written_alone - before->written_alone, copied, 1000);
}

/* Shared memory: on the running kernel each CPU has a process. */
static void *shared_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int run(const struct engine *engine, const struct workload_size *size,
	       struct workload_outcome *outcome, struct message *why)
{
	size_t bytes = sizeof(struct reclaim_copy) + size->cpus * sizeof(struct worker);
	struct reclaim_copy *run = shared_memory(bytes);
	int error;

	if (!run)
		return message_set(why, -ENOMEM, "out of memory for %u CPUs", size->cpus);
	run->engine = engine;
	run->size = size;
	run->ram_pages = ram_pages(size);
	run->guest_pages = GUEST_PART(run->ram_pages);
	run->part_pages = part_pages(size);
	run->processes = engine->kernel ? size->cpus : processes_of[size->settings.choice[MAPPINGS]];
	run->why = why;
	error = workload_run_phases(engine, size, &phases, run, &outcome->timing, why);
	if (!error)
		sum_up(run, outcome);
	munmap(run, bytes);
	return error;
}

const struct workload workload_reclaim_copy = {
    .name = "reclaim_copy",
    .operation = "copied page",
    .contents = true,
    .pressed = true,
    .options = options,
    .option_count = OPTIONS,
    .figures = figures,
    .figure_count = FIGURES,
    .memory_bytes = memory_bytes,
    .refusal = refusal,
    .run = run,
};
