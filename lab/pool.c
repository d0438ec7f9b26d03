/* SPDX-License-Identifier: MIT */
#include "lab/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A virtual machine has a large memory; more of them at a time than this would not fit. */
#define PARALLEL_MAX 16

struct child {
	pid_t pid; /* 0: none */
	int pipe;
	size_t job;
	struct wire received;
};

struct running {
	const struct pool *pool;
	struct child children[PARALLEL_MAX];
	unsigned count;    /* of children that live */
	size_t next, done; /* jobs */
	int error;         /* of the failed job with the lowest number */
	size_t failed_job;
	struct message *why;
	char *details;
	sigset_t waiting_mask; /* while we wait for children */
};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

int pool_signal(void)
{
	return caught;
}

unsigned pool_processors(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return count < 1 ? 1 : count > PARALLEL_MAX ? PARALLEL_MAX : (unsigned)count;
}

static bool write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, data, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		data += written;
		bytes -= (size_t)written;
	}
	return true;
}

/* The child's life: the outcome, and after it the result. */
_Noreturn static void work(const struct pool *pool, size_t job, int fd)
{
	struct wire outcome = {0}, result = {0};
	struct message why = {""};
	const char *details = NULL;
	char *text;
	int error = pool->work(job, pool->argument, &result, &why, &details);

	if (!error && result.failed)
		error = message_set(&why, -ENOMEM, "out of memory");
	text = (char *)details;
	wire_bytes(&outcome, &error, sizeof(error));
	wire_bytes(&outcome, &why, sizeof(why));
	wire_string(&outcome, &text);
	if (outcome.failed || !write_all(fd, outcome.data, outcome.bytes) ||
	    (!error && !write_all(fd, result.data, result.bytes)))
		_exit(1);
	_exit(0);
}

static int start(struct running *running, struct child *child)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return message_set(running->why, -errno, "a pipe cannot be made: %s", strerror(errno));
	fflush(NULL);
	child->job = running->next;
	child->pid = fork();
	if (child->pid < 0) {
		int error = -errno;

		child->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return message_set(running->why, error, "a process cannot be made: %s", strerror(-error));
	}
	if (!child->pid) {
		for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
			if (signal(signals[i], SIG_DFL) == SIG_IGN)
				signal(signals[i], SIG_IGN);
		sigprocmask(SIG_SETMASK, &running->waiting_mask, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(ends[0]);
		work(running->pool, child->job, ends[1]);
	}
	close(ends[1]);
	child->pipe = ends[0];
	child->received = (struct wire){.reading = true};
	running->next++;
	running->count++;
	return 0;
}

static void failed(struct running *running, size_t job, int error, const struct message *why, char *details)
{
	if (running->error && running->failed_job < job) {
		free(details);
		return;
	}
	free(running->details);
	running->details = details;
	running->error = error;
	running->failed_job = job;
	*running->why = *why;
}

/* A child has closed its pipe: what has become of its job? */
static void finish(struct running *running, struct child *child)
{
	const struct pool *pool = running->pool;
	struct message why = {""}, said;
	char *details = NULL;
	char what[256];
	int status, error;

	close(child->pipe);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child->pid = 0;
	running->count--;
	running->done++;
	pool->describe(child->job, pool->argument, what, sizeof(what));
	if (WIFSIGNALED(status)) {
		error = message_set(&why, -EIO, "%s: the process that ran it was ended by signal %d (%s)",
				    what, WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status)) {
		error = message_set(&why, -EIO, "%s: the process that ran it ended with status %d", what,
				    WEXITSTATUS(status));
	} else {
		wire_bytes(&child->received, &error, sizeof(error));
		wire_bytes(&child->received, &said, sizeof(said));
		wire_string(&child->received, &details);
		if (child->received.failed)
			error = message_set(&why, -EIO, "%s: its result did not arrive", what);
		else if (error)
			message_set(&why, error, "%s: %.*s", what, (int)(MESSAGE_BYTES - sizeof(what) - 3),
				    said.text);
		else
			pool->take(child->job, pool->argument, &child->received);
		if (!error && child->received.failed)
			error = message_set(&why, -EIO, "%s: its result did not arrive", what);
	}
	free(child->received.data);
	if (error)
		failed(running, child->job, error, &why, details);
	else
		free(details);
	if (pool->progress)
		pool->progress(running->done, pool->jobs);
}

/* Takes what a child has sent. Returns false at the end of it. */
static bool receive(struct child *child)
{
	struct wire *wire = &child->received;
	ssize_t got;

	if (wire->room - wire->bytes < 65536) {
		size_t room = 2 * wire->room + 131072;
		char *larger = realloc(wire->data, room);

		if (!larger)
			return false;
		wire->data = larger;
		wire->room = room;
	}
	do
		got = read(child->pipe, wire->data + wire->bytes, wire->room - wire->bytes);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	wire->bytes += (size_t)got;
	return true;
}

static void wait_for_children(struct running *running)
{
	struct pollfd polls[PARALLEL_MAX];
	struct child *who[PARALLEL_MAX];
	nfds_t count = 0;

	for (unsigned i = 0; i < PARALLEL_MAX; i++)
		if (running->children[i].pid) {
			who[count] = &running->children[i];
			polls[count] = (struct pollfd){.fd = who[count]->pipe, .events = POLLIN};
			count++;
		}
	if (ppoll(polls, count, NULL, &running->waiting_mask) <= 0)
		return;
	for (nfds_t i = 0; i < count; i++)
		if (polls[i].revents && !receive(who[i]))
			finish(running, who[i]);
}

static void end_children(struct running *running)
{
	for (unsigned i = 0; i < PARALLEL_MAX; i++) {
		struct child *child = &running->children[i];

		if (!child->pid)
			continue;
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		close(child->pipe);
		free(child->received.data);
		child->pid = 0;
	}
}

static struct child *free_child(struct running *running)
{
	for (unsigned i = 0; i < PARALLEL_MAX; i++)
		if (!running->children[i].pid)
			return &running->children[i];
	return NULL;
}

static bool may_start(const struct running *running)
{
	const struct pool *pool = running->pool;

	return running->next < pool->jobs && !running->error &&
	       !(pool->enough && pool->enough(pool->argument));
}

static void run_jobs(struct running *running)
{
	const struct pool *pool = running->pool;
	unsigned parallel = pool->parallel < PARALLEL_MAX ? pool->parallel : PARALLEL_MAX;

	while (!caught && (running->count || may_start(running))) {
		if (may_start(running) && running->count < parallel) {
			struct message why;
			int error = start(running, free_child(running));

			if (error) {
				why = *running->why;
				failed(running, running->next, error, &why, NULL);
			}
			continue;
		}
		wait_for_children(running);
	}
}

int pool_run(const struct pool *pool, struct message *why)
{
	struct running running = {.pool = pool, .why = why};
	struct sigaction action = {.sa_handler = on_signal}, before[ARRAY_SIZE(signals)];
	sigset_t set, mask;

	caught = 0;
	sigemptyset(&action.sa_mask);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	running.waiting_mask = mask;

	run_jobs(&running);
	/* A signal that ended our children, too, may still wait: they were heard of first. */
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	end_children(&running);

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		/* One signal was enough: ignoring the others that wait throws them away. */
		if (caught)
			signal(signals[i], SIG_IGN);
		sigaction(signals[i], &before[i], NULL);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (caught)
		running.error = message_set(why, -EINTR, "interrupted");
	else if (running.details && *running.details)
		fprintf(stderr, "%s%s", running.details,
			running.details[strlen(running.details) - 1] == '\n' ? "" : "\n");
	free(running.details);
	return running.error;
}
