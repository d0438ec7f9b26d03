/* SPDX-License-Identifier: MIT */
/*
 * Results in formats that other programs read.
 */
#ifndef LAB_EXPORT_H
#define LAB_EXPORT_H

#include <stdio.h>

#include "lab/cpu_list.h"
#include "lab/result_file.h"

/* Which cases of which files. */
struct export_choice {
	const struct result_file *files;
	size_t count;
	const char *variant;         /* NULL: all */
	const struct cpu_list *cpus; /* an empty list: all */
};

/* One case; all of it is the file's. */
struct export_case {
	const json_t *study, *result;
	char label[160]; /* "lock, 32 CPUs", with the experiment or engine where there are several */
};

/* Returns the cases that were chosen, *count of them, in the files' order; the caller frees the array. NULL
 * when there is none, with *count 0. Ends the program when memory runs out. */
struct export_case *export_cases(const struct export_choice *choice, size_t *count);

/*
 * Each writes all cases; what could not be written shows in ferror(out). Those that tell of profiles return
 * -ENOENT, with a message and nothing written, when no case has one.
 */

/* "frame;frame;frame ns", one call path a line, as FlameGraph and speedscope read it. With several cases the
 * outermost frame is the case. */
int export_collapsed(FILE *out, const struct export_case *cases, size_t count, struct message *why);

/* As perf report --stdio: functions by their own time, under each who called it, in percent of its parent. */
int export_perf(FILE *out, const struct export_case *cases, size_t count, struct message *why);

/* One line for each repetition of each case, after a line of names (RFC 4180). */
void export_csv(FILE *out, const struct export_case *cases, size_t count);

/* The commands for gnuplot that plot throughput by CPUs, one curve for each variant, as an SVG file at
 * `path`; with the span of the repetitions, and the law where one was fitted. */
void export_gnuplot(FILE *out, const char *path, const struct export_case *cases, size_t count);

#endif
