/* SPDX-License-Identifier: MIT */
#include "tests/diff/linux_channel.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/diff/linux.h"

/* Seconds without a word from the processes after which they count as stuck. */
#define PATIENCE_S 30

struct linux_side {
	struct linux_channel *channel;
	pid_t first;
};

void linux_turn_give(struct linux_turn *turn, uint32_t value)
{
	atomic_store_explicit(&turn->word, value, memory_order_release);
	syscall(SYS_futex, &turn->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint32_t linux_turn_wait(struct linux_turn *turn)
{
	struct timespec second = {.tv_sec = 1};
	uint32_t value = atomic_exchange_explicit(&turn->word, 0, memory_order_acquire);

	if (!value) {
		syscall(SYS_futex, &turn->word, FUTEX_WAIT, 0, &second, NULL, 0);
		value = atomic_exchange_explicit(&turn->word, 0, memory_order_acquire);
	}
	return value;
}

static void run_first(struct linux_channel *channel) __attribute__((noreturn));

static void run_first(struct linux_channel *channel)
{
	pid_t test = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	linux_fill(channel);
	linux_turn_give(&channel->test, LINUX_READY);
	for (;;) {
		uint32_t request = linux_turn_wait(&channel->first);

		if (request == LINUX_QUIT || getppid() != test)
			_exit(0);
		/* All processes are children of the test, so that it can wait for each. */
		if (request == LINUX_START &&
		    syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0) == 0) {
			linux_objects_reset(channel);
			linux_process(channel, 0);
		}
	}
}

/* Waits for an event; when a process died instead, says so. */
static uint32_t wait_event(struct linux_side *side)
{
	struct linux_channel *channel = side->channel;

	for (int i = 0; i < PATIENCE_S; i++) {
		uint32_t event = linux_turn_wait(&channel->test);
		int status;
		pid_t died;

		if (event)
			return event;
		died = waitpid(-1, &status, WNOHANG);
		if (died > 0) {
			snprintf(channel->reason, sizeof(channel->reason),
				 "process %d of the Linux side ended with status %#x", (int)died, status);
			return 0;
		}
	}
	snprintf(channel->reason, sizeof(channel->reason), "the Linux side is stuck");
	return 0;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

struct linux_side *linux_open(unsigned ranges_left, struct diff_terms *terms, const char **reason)
{
	static char why[sizeof(((struct linux_channel *)0)->reason)];
	struct linux_side *side = calloc(1, sizeof(*side));
	struct linux_channel *channel =
	    mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!side || channel == MAP_FAILED) {
		snprintf(why, sizeof(why), "no memory: %s", strerror(errno));
		*reason = why;
		free(side);
		return NULL;
	}
	channel->ranges_left = ranges_left;
	side->channel = channel;
	fflush(NULL);
	side->first = fork();
	if (side->first == 0)
		run_first(channel);
	if (side->first < 0)
		linux_complain(channel, "fork", errno);
	else
		wait_event(side);
	if (channel->reason[0]) {
		memcpy(why, channel->reason, sizeof(why));
		*reason = why;
		linux_close(side);
		return NULL;
	}
	*reason = NULL;
	*terms = channel->terms;
	return side;
}

void linux_close(struct linux_side *side)
{
	if (side->first > 0) {
		linux_turn_give(&side->channel->first, LINUX_QUIT);
		reap(side->first);
	}
	munmap(side->channel, sizeof(*side->channel));
	free(side);
}

void linux_start(struct linux_side *side, const struct diff_sequence *sequence)
{
	struct linux_channel *channel = side->channel;

	channel->sequence.count = sequence->count;
	memcpy(channel->sequence.operation, sequence->operation,
	       sequence->count * sizeof(sequence->operation[0]));
	memset(channel->record.result, 0, sequence->count * sizeof(channel->record.result[0]));
	channel->alive[0] = true;
	atomic_store(&channel->turn[0].word, 1);
	linux_turn_give(&channel->first, LINUX_START);
}

/* Gives the turn to the next operation whose space is alive. Returns false when there is none. */
static bool go_on(struct linux_channel *channel)
{
	for (uint32_t i = channel->next; i < channel->sequence.count; i++) {
		unsigned space = channel->sequence.operation[i].space;

		if (channel->alive[space]) {
			linux_turn_give(&channel->turn[space], i + 1);
			return true;
		}
		channel->record.result[i].error = DIFF_PASSED_OVER;
	}
	return false;
}

const struct diff_record *linux_finish(struct linux_side *side, const char **reason)
{
	struct linux_channel *channel = side->channel;
	uint32_t event = wait_event(side);

	while (event == LINUX_EXITING) {
		/* It is gone, and so are its mappings, only when it has been waited for. */
		reap(channel->pid[channel->exiting]);
		event = go_on(channel) ? wait_event(side) : LINUX_DONE;
	}
	for (unsigned i = 0; i < DIFF_SPACES; i++) {
		if (!channel->alive[i])
			continue;
		channel->alive[i] = false;
		if (event == LINUX_DONE)
			linux_turn_give(&channel->turn[i], LINUX_TURN_QUIT);
		else
			kill(channel->pid[i], SIGKILL);
		reap(channel->pid[i]);
		atomic_store(&channel->turn[i].word, 0);
	}
	*reason = channel->reason;
	return channel->reason[0] ? NULL : &channel->record;
}
