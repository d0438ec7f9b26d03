/* SPDX-License-Identifier: MIT */
/*
 * perf writes its samples to a file without a name, so that none is left behind, and is told through a socket
 * when to begin: the events are there, and off, before the run starts.
 */
#include "engine/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/perf_script.h"

/* Samples a second of each thread. A run is short, and perf takes a lower rate by itself where it must. */
#define FREQUENCY "10000"

extern char **environ;

static struct {
	pid_t pid; /* 0: no recording */
	int samples, errors;
	int control; /* our end of the socket on which perf takes commands and answers */
} recording;

/* Runs perf with its input, output and errors on these files; -1 is /dev/null. Returns 0 or an errno. */
static int spawn(pid_t *pid, char *const *arguments, int input, int output, int errors)
{
	const int files[] = {input, output, errors};
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	for (int i = 0; i < 3 && !error; i++)
		error = files[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, files[i], i)
				      : posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
	if (!error)
		error = posix_spawnp(pid, "perf", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Fills `why` with what perf itself said first, other than that there is an error. */
static int what_perf_says(int errors, struct message *why)
{
	FILE *in = lseek(errors, 0, SEEK_SET) ? NULL : fdopen(dup(errors), "r");
	char line[256] = "", said[256] = "it does not say why";

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || !strcmp(line, "Error:"))
			continue;
		memcpy(said, line, sizeof(said));
		break;
	}
	if (in)
		fclose(in);
	return message_set(why, -EPERM, "perf may not sample the kernel here: %s", said);
}

static int cannot_spawn(int error, struct message *why)
{
	if (error == ENOENT)
		return message_set(why, -ENOENT,
				   "perf is not installed; Debian has it in the package linux-perf");
	return message_set(why, -error, "perf cannot be run: %s", strerror(error));
}

int perf_check(struct message *why)
{
	char *const arguments[] = {"perf", "record", "-q", "-g",   "-e", "cpu-clock:k",
				   "-o",   "-",      "--", "true", NULL};
	int errors = memfd_create("perf errors", MFD_CLOEXEC);
	int status, error;
	pid_t pid;

	if (errors < 0)
		return message_set(why, -errno, "no file for what perf says: %s", strerror(errno));
	error = spawn(&pid, arguments, -1, -1, errors);
	if (error) {
		error = cannot_spawn(error, why);
	} else {
		status = wait_for(pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			error = what_perf_says(errors, why);
	}
	close(errors);
	return error;
}

/* Sends one command and waits until perf has obeyed. Returns whether it has. */
static bool command(const char *text)
{
	size_t bytes = strlen(text);
	char answer[8] = "";
	ssize_t got;

	if (send(recording.control, text, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		return false;
	do {
		got = read(recording.control, answer, sizeof(answer) - 1);
	} while (got < 0 && errno == EINTR);
	return got > 0 && !strncmp(answer, "ack", 3);
}

static void close_recording(void)
{
	close(recording.samples);
	close(recording.errors);
	close(recording.control);
	recording.pid = 0;
}

/* `socket` is perf's end, which it inherits. */
static int start_recording(int socket)
{
	char process[16], channel[32];
	char *const arguments[] = {"perf", "record", "-q",        "-g",    "-F", FREQUENCY, "-D", "-1",
				   "-o",   "-",      "--control", channel, "-p", process,   NULL};

	snprintf(process, sizeof(process), "%d", (int)getpid());
	snprintf(channel, sizeof(channel), "fd:%d,%d", socket, socket);
	return spawn(&recording.pid, arguments, -1, recording.samples, recording.errors);
}

int perf_start(struct message *why)
{
	int ends[2], error;

	recording.samples = memfd_create("perf samples", MFD_CLOEXEC);
	recording.errors = memfd_create("perf errors", MFD_CLOEXEC);
	if (recording.samples < 0 || recording.errors < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    fcntl(ends[0], F_SETFD, FD_CLOEXEC))
		return message_set(why, -errno, "no files for perf: %s", strerror(errno));
	recording.control = ends[0];
	error = start_recording(ends[1]);
	close(ends[1]);
	if (error) {
		close_recording();
		return cannot_spawn(error, why);
	}
	if (command("enable\n"))
		return 0;
	kill(recording.pid, SIGKILL);
	wait_for(recording.pid);
	error = what_perf_says(recording.errors, why);
	close_recording();
	return error;
}

/* Lets perf put names to what it has sampled. */
static int read_samples(struct vsmp_report *report, struct message *why)
{
	char *const arguments[] = {"perf", "script", "-i", "-", "-F", "period,ip,sym", NULL};
	int ends[2], status, error;
	pid_t pid;
	FILE *in;

	if (lseek(recording.samples, 0, SEEK_SET) || pipe2(ends, O_CLOEXEC))
		return message_set(why, -errno, "perf's samples cannot be read: %s", strerror(errno));
	error = spawn(&pid, arguments, recording.samples, ends[1], -1);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		return cannot_spawn(error, why);
	}
	in = fdopen(ends[0], "r");
	if (in) {
		error = perf_script_read(in, report);
		fclose(in);
	} else {
		error = -errno;
		close(ends[0]);
	}
	status = wait_for(pid);
	if (error)
		return message_set(why, error, "what perf script prints cannot be read: %s",
				   strerror(-error));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return message_set(why, -EIO, "perf script has failed");
	if (!report->stack_count)
		return message_set(why, -EIO, "perf took no sample: the run was too short for a profile");
	return 0;
}

int perf_stop(struct vsmp_report *report, struct message *why)
{
	bool stopped = command("disable\n");
	int error;

	/* perf ends itself by the signal, once all is written. */
	kill(recording.pid, SIGINT);
	wait_for(recording.pid);
	error = stopped ? read_samples(report, why) : what_perf_says(recording.errors, why);
	close_recording();
	return error;
}
