/* SPDX-License-Identifier: MIT */
/*
 * The terminal: how wide it is, and the line on it that tells how far long work has come.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stddef.h>

/* Returns the columns of the terminal on stdout; off a terminal what COLUMNS says, or 0 for no bound. */
unsigned terminal_width(void);

/* Names what terminal_progress() tells about; the name must outlive the work. */
void terminal_progress_begin(const char *name);

/* Shows how much is done; only when stderr is a terminal, and gone once all is. */
void terminal_progress(size_t done, size_t count);

/* The same for so many schedules, with how many a second it is since terminal_progress_begin(). */
void terminal_progress_rate(size_t done, size_t count);

/* Wipes the line away, if one is there. */
void terminal_progress_end(void);

#endif
