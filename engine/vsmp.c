/* SPDX-License-Identifier: MIT */
/*
 * The engine whose machine is virtual: mm/ and sync/, compiled for it, on as many CPUs as were never had.
 */
#include <errno.h>

#include "engine/engine.h"
#include "engine/memory.h"
#include "vsmp/vsmp.h"

/* CPUs start within this of each other, so that no two repetitions begin in the same step. */
#define START_SPREAD_CYCLES 10000

static double gigahertz; /* of the machine that is open */

static unsigned cpus(void)
{
	return VSMP_CPUS_MAX;
}

struct opening {
	const struct engine_config *config;
	struct message *why;
	int error;
};

static void open_memory(void *argument)
{
	struct opening *opening = argument;

	opening->error = engine_memory_open(opening->config, opening->why);
}

static void close_memory(void *argument)
{
	(void)argument;
	engine_memory_close();
}

static int open_engine(const struct engine_config *config, struct message *why)
{
	struct vsmp_config machine = {.machine = config->machine,
				      .placement = config->placement,
				      .cpus = config->cpus,
				      .seed = config->seed,
				      .home_socket = config->home_socket,
				      .profile = config->profile,
				      .locks = config->locks,
				      .lines = config->lines,
				      .conflicts = config->conflicts,
				      .speedups = config->speedups,
				      .speedup_count = config->speedup_count};
	struct opening opening = {.config = config, .why = why};
	int error = vsmp_create(&machine, why);

	if (error)
		return error;
	gigahertz = config->machine->gigahertz;
	error = vsmp_setup(open_memory, &opening, why);
	if (!error)
		error = opening.error;
	if (error)
		vsmp_destroy();
	return error;
}

static void close_engine(void)
{
	/* After a deadlock or a failure CPUs still stand inside the memory system: it goes with the machine.
	 */
	if (vsmp_deadlock_report() || vsmp_setup(close_memory, NULL, NULL))
		engine_memory_forget();
	vsmp_destroy();
}

static int run(void (*body)(unsigned cpu, void *argument), void *argument, struct engine_timing *timing,
	       struct message *why)
{
	int error = vsmp_run(body, argument, START_SPREAD_CYCLES, why);

	if (!error)
		vsmp_timing(&timing->cpu_seconds_per_operation, &timing->seconds, &timing->operations);
	return error;
}

static uint64_t clock_ns(void)
{
	return (uint64_t)((double)vsmp_now_cycles() / gigahertz);
}

static int can_profile(struct message *why)
{
	(void)why;
	return 0;
}

static int burst(const struct vsmp_machine *machine, unsigned count, uint64_t seed, bool reads,
		 unsigned rounds, double *mean_cycles, struct message *why)
{
	struct vsmp_config config = {.machine = machine, .cpus = count, .seed = seed, .home_socket = -1};
	int error = vsmp_create(&config, why);

	if (error)
		return error;
	error = vsmp_burst(reads, rounds, mean_cycles);
	vsmp_destroy();
	if (error)
		message_set(why, error, "a burst needs %u CPUs or more and a round or more", reads ? 2 : 1);
	return error;
}

const struct engine engine_vsmp = {
    .name = "vsmp",
    .cpus = cpus,
    .can_profile = can_profile,
    .has_function = vsmp_has_function,
    .prepare = vsmp_prepare,
    .open = open_engine,
    .close = close_engine,
    .setup = vsmp_setup,
    .run = run,
    .deadlock_report = vsmp_deadlock_report,
    .report = vsmp_report,
    .report_free = vsmp_report_free,
    .barrier = vsmp_barrier,
    .measure_begin = vsmp_measure_begin,
    .measure_end = vsmp_measure_end,
    .measure_active = vsmp_measure_active,
    .count_operations = vsmp_count_operations,
    .clock_ns = clock_ns,
    .space_create = engine_memory_space_create,
    .group_create = engine_memory_group_create,
    .group_set_limit = engine_memory_group_set_limit,
    .space_create_in = engine_memory_space_create_in,
    .space_fork = engine_memory_space_fork,
    .space_destroy = engine_memory_space_destroy,
    .map_pfn = engine_memory_map_pfn,
    .map_anon = engine_memory_map_anon,
    .file_create = engine_memory_file_create,
    .file_map = engine_memory_file_map,
    .file_close = engine_memory_file_close,
    .file_copy = engine_memory_file_copy,
    .write_back = engine_memory_write_back,
    .reclaim = engine_memory_reclaim,
    .swap_add = engine_memory_swap_add,
    .unmap = engine_memory_unmap,
    .dontneed = engine_memory_dontneed,
    .touch = engine_memory_touch,
    .statistics = engine_memory_statistics,
    .pressure = engine_memory_pressure,
    .check = engine_memory_check,
    .burst = burst,
};
