/* SPDX-License-Identifier: MIT */
#include "engine/windows.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
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

/*
 * The barrier. Waiters look for a while, since a sleeper is long in waking and would be measured with the
 * work, but only where each has a processor; then they sleep: the last to come may need theirs.
 */
struct barrier {
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	unsigned running, waiting;     /* by the mutex */
	_Atomic uint64_t times_opened; /* written by the mutex */
};

/* Processes that are forked from this one share it. Made by the first run, and kept. */
static struct {
	struct window windows[PORT_CPUS_MAX];
	/* How many CPUs of the run have neither ended their window nor returned. */
	CACHE_LINE_ALIGNED _Atomic unsigned cpus_to_end;
	CACHE_LINE_ALIGNED struct barrier barrier;
	unsigned run_cpus;
} * shared;

uint64_t windows_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Anew for every run: a process that was killed in the one before may have left the mutex locked. */
static void make_barrier(struct barrier *barrier, unsigned cpus)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t opened;

	memset(barrier, 0, sizeof(*barrier));
	barrier->running = cpus;
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&barrier->mutex, &mutex);
	pthread_mutexattr_destroy(&mutex);
	pthread_condattr_init(&opened);
	pthread_condattr_setpshared(&opened, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&barrier->opened, &opened);
	pthread_condattr_destroy(&opened);
}

int windows_reset(unsigned cpus)
{
	void *made = shared;

	if (!made)
		made = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return -ENOMEM;
	shared = made;
	memset(shared->windows, 0, cpus * sizeof(shared->windows[0]));
	shared->run_cpus = cpus;
	atomic_store_explicit(&shared->cpus_to_end, cpus, memory_order_relaxed);
	make_barrier(&shared->barrier, cpus);
	return 0;
}

static void open_if_all_wait_locked(void)
{
	if (!shared->barrier.running || shared->barrier.waiting < shared->barrier.running)
		return;
	shared->barrier.waiting = 0;
	atomic_fetch_add_explicit(&shared->barrier.times_opened, 1, memory_order_release);
	pthread_cond_broadcast(&shared->barrier.opened);
}

static bool opened_since(uint64_t times_opened)
{
	return atomic_load_explicit(&shared->barrier.times_opened, memory_order_acquire) != times_opened;
}

/* Turns of the loop below: about as long as falling asleep and waking take. */
#define LOOKS_MAX 5000

void windows_barrier(void)
{
	bool may_look = shared->run_cpus <= (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t times_opened;

	pthread_mutex_lock(&shared->barrier.mutex);
	times_opened = atomic_load_explicit(&shared->barrier.times_opened, memory_order_relaxed);
	shared->barrier.waiting++;
	open_if_all_wait_locked();
	pthread_mutex_unlock(&shared->barrier.mutex);
	for (unsigned looks = 0; may_look && looks < LOOKS_MAX && !opened_since(times_opened); looks++)
		__builtin_ia32_pause();
	pthread_mutex_lock(&shared->barrier.mutex);
	while (!opened_since(times_opened))
		pthread_cond_wait(&shared->barrier.opened, &shared->barrier.mutex);
	pthread_mutex_unlock(&shared->barrier.mutex);
}

static void end_window(struct window *window)
{
	window->state = WINDOW_ENDED;
	atomic_fetch_sub_explicit(&shared->cpus_to_end, 1, memory_order_relaxed);
}

void windows_return(unsigned cpu)
{
	struct window *window = &shared->windows[cpu];

	if (window->state == WINDOW_OPEN)
		window->end_ns = windows_clock_ns();
	if (window->state != WINDOW_ENDED)
		end_window(window);
	pthread_mutex_lock(&shared->barrier.mutex);
	shared->barrier.running--;
	open_if_all_wait_locked();
	pthread_mutex_unlock(&shared->barrier.mutex);
}

void windows_begin(unsigned cpu)
{
	struct window *window = &shared->windows[cpu];

	invariant(window->state == WINDOW_NONE);
	window->state = WINDOW_OPEN;
	window->begin_ns = windows_clock_ns();
	window->end_ns = window->begin_ns;
}

void windows_end(unsigned cpu)
{
	struct window *window = &shared->windows[cpu];

	invariant(window->state == WINDOW_OPEN);
	window->end_ns = windows_clock_ns();
	end_window(window);
}

bool windows_active(void)
{
	return atomic_load_explicit(&shared->cpus_to_end, memory_order_relaxed) > 0;
}

void windows_count(unsigned cpu, uint64_t operations)
{
	if (shared->windows[cpu].state == WINDOW_OPEN)
		shared->windows[cpu].operations += operations;
}

void windows_timing(struct engine_timing *timing)
{
	unsigned counted = 0;

	memset(timing, 0, sizeof(*timing));
	for (unsigned cpu = 0; cpu < shared->run_cpus; cpu++) {
		const struct window *window = &shared->windows[cpu];
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
