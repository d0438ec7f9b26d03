/* SPDX-License-Identifier: MIT */
/*
 * The engine on the real machine: a CPU is a pinned thread, time is the monotonic clock's.
 */
#include <errno.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/windows.h"
#include "host/cpu.h"
#include "host/memory.h"
#include "port/cpu.h"

struct run {
	void (*body)(unsigned cpu, void *argument);
	void *argument;
};

static unsigned host_engine_cpus(void)
{
	return PORT_CPUS_MAX;
}

static int host_engine_open(const struct engine_config *config, struct message *why)
{
	int error = host_open(config->cpus);

	if (error == -EINVAL)
		return message_set(why, error, "%u CPUs: the host engine runs 1 to %u", config->cpus,
				   PORT_CPUS_MAX);
	if (error == -EBUSY)
		return message_set(why, error, "the host engine is open already; close it first");
	if (error)
		return message_set(why, error, "the host engine cannot start a thread");
	host_memory_populate(config->populate);
	error = engine_memory_open(config, why);
	host_memory_populate(false);
	if (error)
		host_close();
	return error;
}

static void host_engine_close(void)
{
	engine_memory_close();
	host_close();
}

/* The thread that opened the machine is CPU 0. */
static int host_engine_setup(void (*body)(void *argument), void *argument, struct message *why)
{
	(void)why;
	body(argument);
	return 0;
}

static void run_body(unsigned cpu, void *argument)
{
	const struct run *run = argument;

	run->body(cpu, run->argument);
	windows_return(cpu);
}

static int host_engine_run(void (*body)(unsigned cpu, void *argument), void *argument,
			   struct engine_timing *timing, struct message *why)
{
	struct run run = {.body = body, .argument = argument};
	int error;

	error = windows_reset(port_cpu_count());
	if (error)
		return message_set(why, error, "out of memory for %u windows", port_cpu_count());
	error = host_run(run_body, &run);
	if (error)
		return message_set(why, error, "the host engine cannot start %u threads", port_cpu_count());
	windows_timing(timing);
	return 0;
}

/* Threads that wait for each other just hang: nothing here sees it. */
static const char *host_engine_deadlock_report(void)
{
	return NULL;
}

static int host_engine_report(struct vsmp_report *report)
{
	memset(report, 0, sizeof(*report));
	return 0;
}

static void host_engine_report_free(struct vsmp_report *report)
{
	memset(report, 0, sizeof(*report));
}

static void host_engine_measure_begin(void)
{
	windows_begin(port_cpu());
}

static void host_engine_measure_end(void)
{
	windows_end(port_cpu());
}

static void host_engine_count_operations(uint64_t count)
{
	windows_count(port_cpu(), count);
}

const struct engine engine_host = {
    .name = "host",
    .cpus = host_engine_cpus,
    .open = host_engine_open,
    .close = host_engine_close,
    .setup = host_engine_setup,
    .run = host_engine_run,
    .deadlock_report = host_engine_deadlock_report,
    .report = host_engine_report,
    .report_free = host_engine_report_free,
    .barrier = windows_barrier,
    .measure_begin = host_engine_measure_begin,
    .measure_end = host_engine_measure_end,
    .measure_active = windows_active,
    .count_operations = host_engine_count_operations,
    .clock_ns = windows_clock_ns,
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
    .burst = NULL,
};
