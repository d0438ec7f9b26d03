/* SPDX-License-Identifier: MIT */
#include "cli/gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int gnuplot_check(struct message *why)
{
	const char *path = getenv("PATH");
	char program[4096];

	while (path && *path) {
		size_t length = strcspn(path, ":");

		snprintf(program, sizeof(program), "%.*s/gnuplot", (int)length, path);
		if (!access(program, X_OK))
			return 0;
		path += length + (path[length] == ':');
	}
	return message_set(why, -ENOENT,
			   "gnuplot is not installed; Debian has it in the package gnuplot-nox");
}

/* In the child: gnuplot reads what is in `commands`. */
static _Noreturn void become_gnuplot(FILE *commands)
{
	if (dup2(fileno(commands), STDIN_FILENO) >= 0)
		execlp("gnuplot", "gnuplot", (char *)NULL);
	_exit(127);
}

static int copy(const char *path, FILE *out)
{
	FILE *in = fopen(path, "re");
	char bytes[4096];
	size_t count, all = 0;

	if (!in)
		return -1;
	while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0) {
		fwrite(bytes, 1, count, out);
		all += count;
	}
	fclose(in);
	if (all)
		return 0;
	errno = EIO;
	return -1;
}

int gnuplot_draw(FILE *out, const struct export_case *cases, size_t count)
{
	char plot[] = "/tmp/softfault-plot.XXXXXX";
	FILE *commands = tmpfile();
	int file, status = -1, result;
	pid_t child;

	if (!commands)
		return -1;
	file = mkstemp(plot);
	if (file < 0) {
		fclose(commands);
		return -1;
	}
	close(file);
	export_gnuplot(commands, plot, cases, count);
	rewind(commands);
	fflush(out);
	child = fork();
	if (!child)
		become_gnuplot(commands);
	if (child > 0)
		waitpid(child, &status, 0);
	fclose(commands);
	errno = EIO;
	result = status ? -1 : copy(plot, out);
	unlink(plot);
	return result;
}
