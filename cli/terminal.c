/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WIDTH_MIN 20 /* a narrower terminal is treated as this wide */
#define WIDTH_MAX 1000

static const char *working_at = "";
static struct timespec begun;
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
	clock_gettime(CLOCK_MONOTONIC, &begun);
}

static void show_end(bool end)
{
	fflush(stderr);
	shown = true;
	if (end)
		terminal_progress_end();
}

void terminal_progress(size_t done, size_t count)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: %zu of %zu runs", working_at, done, count);
	show_end(done == count);
}

void terminal_progress_rate(size_t done, size_t count)
{
	struct timespec now;
	double seconds;

	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
	fprintf(stderr, "\r\033[K%s: %zu of %zu schedules, %.0f a second", working_at, done, count,
		seconds > 0 ? (double)done / seconds : 0);
	show_end(done == count);
}

void terminal_progress_end(void)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
	shown = false;
}
