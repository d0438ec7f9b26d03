/* SPDX-License-Identifier: MIT */
/*
 * Plots by gnuplot, a program of its own.
 */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stdio.h>

#include "lab/export.h"

/* Returns 0, or -ENOENT with a message when gnuplot is not installed. */
int gnuplot_check(struct message *why);

/* Writes the SVG plot of the cases. Returns 0, or -1 with errno when gnuplot failed. */
int gnuplot_draw(FILE *out, const struct export_case *cases, size_t count);

#endif
