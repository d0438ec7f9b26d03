/* SPDX-License-Identifier: MIT */
#include "engine/windows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/panic.h"

#define NS_PER_SECOND 1000000000ull

enum window_state { WINDOW_NONE, WINDOW_OPEN, WINDOW_ENDED };

/* A CPU's measured window. Its CPU alone touches it while a run goes on. */
struct window {
	CACHE_LINE_ALIGNED enum window_state state;
	uint64_t begin_ns, end_ns;
	uint64_t operations;
};

static struct window windows[PORT_CPUS_MAX];
static unsigned run_cpus;

/* How many CPUs of the run have neither ended their window nor returned. */
static CACHE_LINE_ALIGNED _Atomic unsigned cpus_to_end;

/*
 * The barrier. Waiters look for a while, since a sleeper is long in waking and would be measured with the
 * work, but only where each has a processor; then they sleep: the last to come may need theirs.
 */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	unsigned running, waiting;     /* by the mutex */
	_Atomic uint64_t times_opened; /* written by the mutex */
} barrier = {.mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void windows_reset(unsigned cpus)
{
	memset(windows, 0, cpus * sizeof(windows[0]));
	run_cpus = cpus;
	atomic_store_explicit(&cpus_to_end, cpus, memory_order_relaxed);
	barrier.running = cpus;
	barrier.waiting = 0;
}

static void open_if_all_wait_locked(void)
{
	if (!barrier.running || barrier.waiting < barrier.running)
		return;
	barrier.waiting = 0;
	atomic_fetch_add_explicit(&barrier.times_opened, 1, memory_order_release);
	pthread_cond_broadcast(&barrier.opened);
}

static bool opened_since(uint64_t times_opened)
{
	return atomic_load_explicit(&barrier.times_opened, memory_order_acquire) != times_opened;
}

/* Turns of the loop below: about as long as falling asleep and waking take. */
#define LOOKS_MAX 5000

void windows_barrier(void)
{
	bool may_look = run_cpus <= (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t times_opened;

	pthread_mutex_lock(&barrier.mutex);
	times_opened = atomic_load_explicit(&barrier.times_opened, memory_order_relaxed);
	barrier.waiting++;
	open_if_all_wait_locked();
	pthread_mutex_unlock(&barrier.mutex);
	for (unsigned looks = 0; may_look && looks < LOOKS_MAX && !opened_since(times_opened); looks++)
		__builtin_ia32_pause();
	pthread_mutex_lock(&barrier.mutex);
	while (!opened_since(times_opened))
		pthread_cond_wait(&barrier.opened, &barrier.mutex);
	pthread_mutex_unlock(&barrier.mutex);
}

static void end_window(struct window *window)
{
	window->state = WINDOW_ENDED;
	atomic_fetch_sub_explicit(&cpus_to_end, 1, memory_order_relaxed);
}

void windows_return(unsigned cpu)
{
	struct window *window = &windows[cpu];

	if (window->state == WINDOW_OPEN)
		window->end_ns = now_ns();
	if (window->state != WINDOW_ENDED)
		end_window(window);
	pthread_mutex_lock(&barrier.mutex);
	barrier.running--;
	open_if_all_wait_locked();
	pthread_mutex_unlock(&barrier.mutex);
}

void windows_begin(unsigned cpu)
{
	struct window *window = &windows[cpu];

	invariant(window->state == WINDOW_NONE);
	window->state = WINDOW_OPEN;
	window->begin_ns = now_ns();
	window->end_ns = window->begin_ns;
}

void windows_end(unsigned cpu)
{
	struct window *window = &windows[cpu];

	invariant(window->state == WINDOW_OPEN);
	window->end_ns = now_ns();
	end_window(window);
}

bool windows_active(void)
{
	return atomic_load_explicit(&cpus_to_end, memory_order_relaxed) > 0;
}

void windows_count(unsigned cpu, uint64_t operations)
{
	if (windows[cpu].state == WINDOW_OPEN)
		windows[cpu].operations += operations;
}

void windows_timing(struct engine_timing *timing)
{
	unsigned counted = 0;

	memset(timing, 0, sizeof(*timing));
	for (unsigned cpu = 0; cpu < run_cpus; cpu++) {
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
