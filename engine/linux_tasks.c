/* SPDX-License-Identifier: MIT */
#include "engine/linux_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "engine/linux_groups.h"
#include "engine/perf.h"
#include "engine/windows.h"

/* The number of the thread's CPU; threads of one run. */
static _Thread_local unsigned this_cpu;

enum gate { GATE_SHUT, GATE_RUN, GATE_CANCEL };

/* What a task's process that could not run its body ends with. */
enum ending { ENDING_WELL, ENDING_NO_GROUP, ENDING_NO_THREADS };

/* The threads of one process. */
struct run {
	const struct linux_tasks *tasks;
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	enum gate gate; /* by the mutex: no body runs until all threads exist */
};

/* In memory that the processes share. */
struct thread {
	CACHE_LINE_ALIGNED struct run *run;
	pthread_t thread;
	unsigned cpu;
	uint64_t faults;
	bool counted_by_perf;
};

unsigned linux_tasks_cpu(void)
{
	return this_cpu;
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
	self->run->tasks->body(self->cpu, self->run->tasks->argument);
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

static void add_up(const struct linux_tasks *tasks, const struct thread *threads,
		   struct engine_statistics *statistics)
{
	bool by_perf = true;

	for (unsigned cpu = 0; cpu < tasks->cpus; cpu++) {
		statistics->faults += threads[cpu].faults;
		by_perf = by_perf && threads[cpu].counted_by_perf;
	}
	statistics->counter = by_perf ? ENGINE_COUNTER_PERF : ENGINE_COUNTER_RUSAGE;
}

/* Makes the threads of `count` CPUs, the first of which is `first`. Returns how many there are. */
static unsigned start_threads(struct run *run, struct thread *threads, unsigned first, unsigned count)
{
	unsigned started;

	for (started = 0; started < count; started++) {
		struct thread *thread = &threads[first + started];

		thread->run = run;
		thread->cpu = first + started;
		if (start(thread))
			break;
	}
	return started;
}

static void join_threads(struct thread *threads, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[first + i].thread, NULL);
}

/* Runs the bodies in threads of this process. */
static int run_threads(const struct linux_tasks *tasks, struct thread *threads, struct message *why)
{
	struct run run = {
	    .tasks = tasks, .mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
	unsigned started = start_threads(&run, threads, 0, tasks->cpus);
	int error = 0;

	if (started < tasks->cpus)
		error = message_set(why, -EAGAIN, "the linux engine cannot start %u threads", tasks->cpus);
	if (!error && tasks->profile)
		error = perf_start(why);
	open_gate(&run, error ? GATE_CANCEL : GATE_RUN);
	join_threads(threads, 0, started);
	return error;
}

/* The body of a process: its threads wait until something comes through the pipe; its end means to give up.
 */
static _Noreturn void run_process(const struct linux_tasks *tasks, struct thread *threads, unsigned process,
				  int go)
{
	struct run run = {
	    .tasks = tasks, .mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
	unsigned count = tasks->processes == 1 ? tasks->cpus : 1, started;
	bool may_run;
	char byte;

	linux_groups_forget();
	if (tasks->group[process] && linux_groups_enter(tasks->group[process]))
		_exit(ENDING_NO_GROUP);
	started = start_threads(&run, threads, process, count);
	may_run = started == count && read(go, &byte, 1) == 1;
	open_gate(&run, may_run ? GATE_RUN : GATE_CANCEL);
	join_threads(threads, process, started);
	_exit(started < count ? ENDING_NO_THREADS : ENDING_WELL);
}

/* Forks one, which ends when this process does. The first leads the others' process group. */
static pid_t fork_process(const struct linux_tasks *tasks, struct thread *threads, unsigned process,
			  const int go[2], pid_t leader)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(ENDING_WELL);
		close(go[1]);
		setpgid(0, leader);
		run_process(tasks, threads, process, go[0]);
	}
	if (pid > 0)
		setpgid(pid, leader ? leader : pid);
	return pid;
}

static int process_failed(int status, struct message *why)
{
	if (WIFSIGNALED(status))
		return message_set(why, -EIO, "a task's process was ended by signal %d (%s)",
				   WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == ENDING_NO_GROUP)
		return message_set(why, -EACCES, "a task's process cannot enter its control group");
	return message_set(why, -EAGAIN, "a task's process cannot start its threads");
}

/* Waits for all; when one fails, the others are ended, which may wait for it. */
static int wait_for_processes(pid_t leader, unsigned count, struct message *why)
{
	int error = 0;

	while (count) {
		int status;
		pid_t pid = waitpid(-leader, &status, 0);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		count--;
		if (!error && (!WIFEXITED(status) || WEXITSTATUS(status))) {
			error = process_failed(status, why);
			kill(-leader, SIGKILL);
		}
	}
	return error;
}

static int run_processes(const struct linux_tasks *tasks, struct thread *threads, struct message *why)
{
	pid_t leader = 0;
	unsigned started = 0;
	int go[2], error = 0, failed;

	if (pipe2(go, O_CLOEXEC))
		return message_set(why, -errno, "a pipe cannot be made: %s", strerror(errno));
	if (tasks->profile)
		error = perf_start(why);
	while (!error && started < tasks->processes) {
		pid_t pid = fork_process(tasks, threads, started, go, leader);

		if (pid < 0) {
			error = message_set(why, -EAGAIN, "the linux engine cannot start %u processes",
					    tasks->processes);
			break;
		}
		leader = leader ? leader : pid;
		started++;
	}
	/* Our end for reading stays open: they may all have ended by now, and that must not end us. */
	for (unsigned i = 0; !error && i < started; i++)
		if (write(go[1], "", 1) != 1)
			error = message_set(why, -EIO, "the tasks' processes cannot be started");
	close(go[0]);
	close(go[1]);
	failed = started ? wait_for_processes(leader, started, error ? &(struct message){""} : why) : 0;
	return error ? error : failed;
}

int linux_tasks_run(const struct linux_tasks *tasks, struct engine_statistics *statistics,
		    struct vsmp_report *report, struct message *why)
{
	size_t bytes = tasks->cpus * sizeof(struct thread);
	struct thread *threads = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int error;

	if (threads == MAP_FAILED)
		return message_set(why, -ENOMEM, "out of memory for %u threads", tasks->cpus);
	error = tasks->processes ? run_processes(tasks, threads, why) : run_threads(tasks, threads, why);
	if (!error)
		add_up(tasks, threads, statistics);
	munmap(threads, bytes);
	if (!error && tasks->profile)
		error = perf_stop(report, why);
	return error;
}
