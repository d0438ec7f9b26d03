/* SPDX-License-Identifier: MIT */
/*
 * The engine on the real machine: a CPU is a pinned thread, time is the monotonic clock's.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "host/cpu.h"
#include "port/cpu.h"
#include "port/panic.h"

#define NS_PER_SECOND 1000000000ull

enum window_state { WINDOW_NONE, WINDOW_OPEN, WINDOW_ENDED };

/* A CPU's measured window. Its CPU alone touches it while a run goes on. */
struct window {
	CACHE_LINE_ALIGNED enum window_state state;
	uint64_t begin_ns, end_ns;
	uint64_t operations;
	bool passed_barrier;
};

static struct window windows[PORT_CPUS_MAX];

/* How many CPUs of the run have neither ended their window nor returned. */
static CACHE_LINE_ALIGNED _Atomic unsigned cpus_to_end;

/* How many CPUs of the run have come to the barrier, or returned without. */
static CACHE_LINE_ALIGNED _Atomic unsigned cpus_at_barrier;

struct run {
	void (*body)(unsigned cpu, void *argument);
	void *argument;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

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
	error = engine_memory_open(&config->policy, config->memory_bytes, config->structure_only, why);
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

static void end_window(struct window *window)
{
	window->state = WINDOW_ENDED;
	atomic_fetch_sub_explicit(&cpus_to_end, 1, memory_order_relaxed);
}

static void run_body(unsigned cpu, void *argument)
{
	const struct run *run = argument;

	run->body(cpu, run->argument);
	/* A body that has given up keeps nobody waiting; a window that it left open ends here. */
	if (!windows[cpu].passed_barrier)
		atomic_fetch_add_explicit(&cpus_at_barrier, 1, memory_order_release);
	if (windows[cpu].state == WINDOW_OPEN)
		windows[cpu].end_ns = now_ns();
	if (windows[cpu].state != WINDOW_ENDED)
		end_window(&windows[cpu]);
}

/* Puts together what the windows say; a CPU without operations has no time an operation. */
static void sum_up(struct engine_timing *timing)
{
	unsigned counted = 0;

	memset(timing, 0, sizeof(*timing));
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct window *window = &windows[cpu];
		double seconds = (double)(window->end_ns - window->begin_ns) / (double)NS_PER_SECOND;

		if (seconds > timing->seconds)
			timing->seconds = seconds;
		if (!window->operations)
			continue;
		timing->operations += window->operations;
		timing->cpu_seconds_per_operation += seconds / (double)window->operations;
		counted++;
	}
	if (counted)
		timing->cpu_seconds_per_operation /= counted;
}

static int host_engine_run(void (*body)(unsigned cpu, void *argument), void *argument,
			   struct engine_timing *timing, struct message *why)
{
	struct run run = {.body = body, .argument = argument};
	int error;

	memset(windows, 0, port_cpu_count() * sizeof(windows[0]));
	atomic_store_explicit(&cpus_to_end, port_cpu_count(), memory_order_relaxed);
	atomic_store_explicit(&cpus_at_barrier, 0, memory_order_relaxed);
	error = host_run(run_body, &run);
	if (error)
		return message_set(why, error, "the host engine cannot start %u threads", port_cpu_count());
	sum_up(timing);
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

static void host_engine_barrier(void)
{
	struct window *window = &windows[port_cpu()];

	invariant(!window->passed_barrier);
	window->passed_barrier = true;
	atomic_fetch_add_explicit(&cpus_at_barrier, 1, memory_order_release);
	while (atomic_load_explicit(&cpus_at_barrier, memory_order_acquire) < port_cpu_count())
		sched_yield();
}

static void host_engine_measure_begin(void)
{
	struct window *window = &windows[port_cpu()];

	invariant(window->state == WINDOW_NONE);
	window->state = WINDOW_OPEN;
	window->begin_ns = now_ns();
	window->end_ns = window->begin_ns;
}

static void host_engine_measure_end(void)
{
	struct window *window = &windows[port_cpu()];

	invariant(window->state == WINDOW_OPEN);
	window->end_ns = now_ns();
	end_window(window);
}

static bool host_engine_measure_active(void)
{
	return atomic_load_explicit(&cpus_to_end, memory_order_relaxed) > 0;
}

static void host_engine_count_operations(uint64_t count)
{
	struct window *window = &windows[port_cpu()];

	if (window->state == WINDOW_OPEN)
		window->operations += count;
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
    .barrier = host_engine_barrier,
    .measure_begin = host_engine_measure_begin,
    .measure_end = host_engine_measure_end,
    .measure_active = host_engine_measure_active,
    .count_operations = host_engine_count_operations,
    .space_create = engine_memory_space_create,
    .space_destroy = engine_memory_space_destroy,
    .map_pfn = engine_memory_map_pfn,
    .unmap = engine_memory_unmap,
    .touch = engine_memory_touch,
    .check = engine_memory_check,
    .burst = NULL,
};
