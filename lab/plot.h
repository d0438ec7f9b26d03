/* SPDX-License-Identifier: MIT */
/*
 * A small plot of curves, drawn with characters, both axes logarithmic.
 */
#ifndef LAB_PLOT_H
#define LAB_PLOT_H

#include <stddef.h>
#include <stdio.h>

/* One curve: `count` points by growing x, all above 0. */
struct plot_curve {
	const char *name;
	const double *x, *y;
	size_t count;
};

/* As many curves have a letter of their own. */
#define PLOT_CURVES_MAX 26u

/*
 * Draws up to PLOT_CURVES_MAX curves, at most `width` columns wide (0: 80), and under them which letter is
 * which. A capital letter is a measured point, dots lead from one to the next. `title` says what y is.
 */
void plot_print(FILE *out, unsigned width, const char *title, const struct plot_curve *curves, size_t count);

#endif
