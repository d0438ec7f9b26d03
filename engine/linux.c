/* SPDX-License-Identifier: MIT */
/*
 * The running kernel as an engine: pinned threads that map, touch and give back memory as any program does.
 * There is one memory system, the kernel's, and one space, the process's. It inserts no PFNs, so map_pfn is
 * NULL.
 */
#include "engine/engine.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "engine/perf.h"
#include "engine/windows.h"
#include "port/cpu.h"

/* The number of the thread's CPU; threads of one run. */
static _Thread_local unsigned this_cpu;

enum gate { GATE_SHUT, GATE_RUN, GATE_CANCEL };

static struct {
	unsigned cpus; /* 0: not open */
	bool profile;  /* the next run */
	struct engine_statistics statistics;
	struct vsmp_report report;
} kernel;

/* One run: what every thread of it shares. */
struct run {
	void (*body)(unsigned cpu, void *argument);
	void *argument;
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	enum gate gate; /* by the mutex: no body runs until all threads exist */
};

struct thread {
	CACHE_LINE_ALIGNED struct run *run;
	pthread_t thread;
	unsigned cpu;
	uint64_t faults;
	bool counted_by_perf;
};

static unsigned linux_cpus(void)
{
	return PORT_CPUS_MAX;
}

static int linux_open(const struct engine_config *config, struct message *why)
{
	if (config->cpus < 1 || config->cpus > PORT_CPUS_MAX)
		return message_set(why, -EINVAL, "%u CPUs: the linux engine runs 1 to %u threads",
				   config->cpus, PORT_CPUS_MAX);
	if (kernel.cpus)
		return message_set(why, -EBUSY, "the linux engine is open already; close it first");
	memset(&kernel, 0, sizeof(kernel));
	kernel.cpus = config->cpus;
	kernel.profile = config->profile;
	return 0;
}

static void linux_close(void)
{
	perf_report_free(&kernel.report);
	kernel.cpus = 0;
}

static int linux_setup(void (*body)(void *argument), void *argument, struct message *why)
{
	(void)why;
	body(argument);
	return 0;
}

/* Opens a counter of the thread's own minor faults. Returns -1 where that is not permitted. */
static int open_counter(void)
{
	struct perf_event_attr attributes = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attributes),
	    .config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
	    .exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t own_minor_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_minflt;
}

/* Returns the number of minor faults of the thread so far. */
static uint64_t read_counter(int counter)
{
	uint64_t count;

	if (counter >= 0 && read(counter, &count, sizeof(count)) == sizeof(count))
		return count;
	return own_minor_faults();
}

static enum gate wait_at_gate(struct run *run)
{
	enum gate gate;

	pthread_mutex_lock(&run->mutex);
	while (run->gate == GATE_SHUT)
		pthread_cond_wait(&run->opened, &run->mutex);
	gate = run->gate;
	pthread_mutex_unlock(&run->mutex);
	return gate;
}

static void open_gate(struct run *run, enum gate gate)
{
	pthread_mutex_lock(&run->mutex);
	run->gate = gate;
	pthread_cond_broadcast(&run->opened);
	pthread_mutex_unlock(&run->mutex);
}

static void *run_thread(void *argument)
{
	struct thread *self = argument;
	uint64_t before;
	int counter;

	this_cpu = self->cpu;
	if (wait_at_gate(self->run) == GATE_CANCEL)
		return NULL;
	counter = open_counter();
	self->counted_by_perf = counter >= 0;
	before = read_counter(counter);
	self->run->body(self->cpu, self->run->argument);
	windows_return(self->cpu);
	self->faults = read_counter(counter) - before;
	if (counter >= 0)
		close(counter);
	return NULL;
}

/* The `index`th processor of those that the process may use, counted around. */
static void pin(pthread_attr_t *attributes, unsigned index)
{
	cpu_set_t allowed, one;
	unsigned left;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || !CPU_COUNT(&allowed))
		return;
	left = index % (unsigned)CPU_COUNT(&allowed);
	for (int number = 0; number < CPU_SETSIZE; number++) {
		if (!CPU_ISSET(number, &allowed) || left--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(number, &one);
		pthread_attr_setaffinity_np(attributes, sizeof(one), &one);
		return;
	}
}

static int start(struct thread *thread)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pin(&attributes, thread->cpu);
	error = pthread_create(&thread->thread, &attributes, run_thread, thread);
	pthread_attr_destroy(&attributes);
	return error;
}

static void add_up(const struct thread *threads)
{
	bool by_perf = true;

	for (unsigned cpu = 0; cpu < kernel.cpus; cpu++) {
		kernel.statistics.faults += threads[cpu].faults;
		by_perf = by_perf && threads[cpu].counted_by_perf;
	}
	kernel.statistics.counter = by_perf ? ENGINE_COUNTER_PERF : ENGINE_COUNTER_RUSAGE;
}

/* Runs the threads, which perf samples if it is to. */
static int run_threads(struct run *run, struct thread *threads, struct message *why)
{
	unsigned started;
	int error = 0;

	for (started = 0; started < kernel.cpus && !error; started++) {
		threads[started].run = run;
		threads[started].cpu = started;
		error = start(&threads[started]);
		if (error) {
			message_set(why, -EAGAIN, "the linux engine cannot start %u threads", kernel.cpus);
			break;
		}
	}
	if (!error && kernel.profile)
		error = perf_start(why);
	open_gate(run, error ? GATE_CANCEL : GATE_RUN);
	while (started)
		pthread_join(threads[--started].thread, NULL);
	return error > 0 ? -EAGAIN : error;
}

static int linux_run(void (*body)(unsigned cpu, void *argument), void *argument, struct engine_timing *timing,
		     struct message *why)
{
	struct run run = {.body = body,
			  .argument = argument,
			  .mutex = PTHREAD_MUTEX_INITIALIZER,
			  .opened = PTHREAD_COND_INITIALIZER};
	size_t bytes = kernel.cpus * sizeof(struct thread);
	struct thread *threads = aligned_alloc(CACHE_LINE_BYTES, bytes);
	int error;

	if (!threads)
		return message_set(why, -ENOMEM, "out of memory for %u threads", kernel.cpus);
	memset(threads, 0, bytes);
	windows_reset(kernel.cpus);
	error = run_threads(&run, threads, why);
	if (!error) {
		windows_timing(timing);
		add_up(threads);
	}
	free(threads);
	if (!error && kernel.profile) {
		error = perf_stop(&kernel.report, why);
		kernel.profile = false;
	}
	return error;
}

static const char *linux_deadlock_report(void)
{
	return NULL;
}

static int linux_report(struct vsmp_report *report)
{
	*report = kernel.report;
	memset(&kernel.report, 0, sizeof(kernel.report));
	return 0;
}

static void linux_measure_begin(void)
{
	windows_begin(this_cpu);
}

static void linux_measure_end(void)
{
	windows_end(this_cpu);
}

static void linux_count_operations(uint64_t count)
{
	windows_count(this_cpu, count);
}

/* The process is the space. */
static int linux_space_create(unsigned space)
{
	return space ? -EOPNOTSUPP : 0;
}

/* What is mapped by then goes with the process. */
static void linux_space_destroy(unsigned space)
{
	(void)space;
}

static int map(uintptr_t address, size_t length, int flags, int file)
{
	void *wanted = (void *)address;

	flags |= MAP_FIXED_NOREPLACE | MAP_NORESERVE;
	if (mmap(wanted, length, PROT_READ | PROT_WRITE, flags, file, 0) != wanted)
		return -errno;
	/* Small pages, as everywhere; a kernel that has no large ones does not know the advice. */
	return madvise(wanted, length, MADV_NOHUGEPAGE) && errno != EINVAL ? -errno : 0;
}

static int linux_map_anon(unsigned space, uintptr_t address, size_t length, bool shared)
{
	if (space)
		return -EOPNOTSUPP;
	return map(address, length, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1);
}

/* A file of the kernel's own tmpfs, without a name: it goes with the process, whatever ends that. */
static int linux_map_file(unsigned space, uintptr_t address, size_t length)
{
	int file, error;

	if (space)
		return -EOPNOTSUPP;
	file = memfd_create("softfault", MFD_CLOEXEC);
	if (file < 0)
		return -errno;
	error = ftruncate(file, (off_t)length) ? -errno : map(address, length, MAP_SHARED, file);
	close(file);
	return error;
}

static int linux_unmap(unsigned space, uintptr_t address, size_t length)
{
	if (space)
		return -EOPNOTSUPP;
	return munmap((void *)address, length) ? -errno : 0;
}

static int linux_dontneed(unsigned space, uintptr_t address, size_t length)
{
	if (space)
		return -EOPNOTSUPP;
	return madvise((void *)address, length, MADV_DONTNEED) ? -errno : 0;
}

static int linux_touch(unsigned space, uintptr_t address, bool write)
{
	volatile char *byte = (volatile char *)address;

	if (space)
		return -EOPNOTSUPP;
	if (write)
		*byte = 0;
	else
		(void)*byte;
	return 0;
}

static void linux_statistics(struct engine_statistics *statistics)
{
	*statistics = kernel.statistics;
}

/* It is the running kernel's own affair. */
static int linux_check(struct message *why)
{
	(void)why;
	return 0;
}

const struct engine engine_linux = {
    .name = "linux",
    .kernel = true,
    .cpus = linux_cpus,
    .can_profile = perf_check,
    .open = linux_open,
    .close = linux_close,
    .setup = linux_setup,
    .run = linux_run,
    .deadlock_report = linux_deadlock_report,
    .report = linux_report,
    .report_free = perf_report_free,
    .barrier = windows_barrier,
    .measure_begin = linux_measure_begin,
    .measure_end = linux_measure_end,
    .measure_active = windows_active,
    .count_operations = linux_count_operations,
    .space_create = linux_space_create,
    .space_destroy = linux_space_destroy,
    .map_anon = linux_map_anon,
    .map_file = linux_map_file,
    .unmap = linux_unmap,
    .dontneed = linux_dontneed,
    .touch = linux_touch,
    .check = linux_check,
    .statistics = linux_statistics,
};
