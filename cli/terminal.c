/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN 20 /* a narrower terminal is treated as this wide */
#define WIDTH_MAX 1000

static const char *working_at = "";
static bool shown;

unsigned terminal_width(void)
{
	const char *given = getenv("COLUMNS");
	struct winsize size;
	unsigned long width = 0;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width && given)
		width = strtoul(given, NULL, 10);
	if (!width || width > WIDTH_MAX)
		return 0;
	return width < WIDTH_MIN ? WIDTH_MIN : (unsigned)width;
}

void terminal_progress_begin(const char *name)
{
	working_at = name;
}

void terminal_progress(size_t done, size_t count)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: %zu of %zu runs", working_at, done, count);
	fflush(stderr);
	shown = true;
	if (done == count)
		terminal_progress_end();
}

void terminal_progress_end(void)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
	shown = false;
}
