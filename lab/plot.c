/* SPDX-License-Identifier: MIT */
#include "lab/plot.h"

#include <math.h>
#include <string.h>

#include "lab/number.h"
#include "lab/table.h"

#define ROWS        13
#define LABEL       9 /* columns left of the axis */
#define COLUMNS_MIN 10
#define COLUMNS_MAX 64
#define TICKS_MAX   16

struct plot {
	char cells[ROWS][COLUMNS_MAX];
	unsigned columns;
	double left, right, bottom, top; /* logarithms */
};

static unsigned column_of(const struct plot *plot, double x)
{
	return (unsigned)lround((log(x) - plot->left) / (plot->right - plot->left) * (plot->columns - 1));
}

static unsigned row_of(const struct plot *plot, double y)
{
	return (unsigned)lround((plot->top - log(y)) / (plot->top - plot->bottom) * (ROWS - 1));
}

static void find_bounds(struct plot *plot, const struct plot_curve *curves, size_t count)
{
	plot->left = plot->bottom = INFINITY;
	plot->right = plot->top = -INFINITY;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < curves[i].count; j++) {
			plot->left = fmin(plot->left, log(curves[i].x[j]));
			plot->right = fmax(plot->right, log(curves[i].x[j]));
			plot->bottom = fmin(plot->bottom, log(curves[i].y[j]));
			plot->top = fmax(plot->top, log(curves[i].y[j]));
		}
	/* Whole decades, so that the axis has round numbers. */
	plot->bottom = floor(plot->bottom / M_LN10) * M_LN10;
	plot->top = ceil(plot->top / M_LN10) * M_LN10;
	if (plot->top <= plot->bottom)
		plot->top = plot->bottom + M_LN10;
	if (plot->right <= plot->left)
		plot->right = plot->left + M_LN2;
}

static void draw_way(struct plot *plot, const struct plot_curve *curve, size_t to)
{
	double from_x = log(curve->x[to - 1]), from_y = log(curve->y[to - 1]);
	double over_x = log(curve->x[to]) - from_x, over_y = log(curve->y[to]) - from_y;
	unsigned last = column_of(plot, curve->x[to]);

	for (unsigned column = column_of(plot, curve->x[to - 1]) + 1; column < last; column++) {
		double x = plot->left + (plot->right - plot->left) * column / (plot->columns - 1);
		char *cell = &plot->cells[row_of(plot, exp(from_y + over_y * (x - from_x) / over_x))][column];

		if (*cell == ' ')
			*cell = '.';
	}
}

/* The first curve that comes to a place keeps it. */
static void draw(struct plot *plot, const struct plot_curve *curves, size_t count)
{
	memset(plot->cells, ' ', sizeof(plot->cells));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < curves[i].count; j++) {
			char *cell =
			    &plot->cells[row_of(plot, curves[i].y[j])][column_of(plot, curves[i].x[j])];

			if (*cell == ' ')
				*cell = (char)('A' + i);
		}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 1; j < curves[i].count; j++)
			draw_way(plot, &curves[i], j);
}

/* Numbers of CPUs under the axis, as many as have room. */
static void print_ticks(FILE *out, const struct plot *plot, const struct plot_curve *longest)
{
	unsigned at = 0;

	fprintf(out, "%*s ", LABEL, "");
	for (size_t i = 0; i < longest->count; i++) {
		struct number number = number_text(longest->x[i]);
		unsigned column = column_of(plot, longest->x[i]);
		int bytes;

		bytes = snprintf(number.text, sizeof(number.text), "%.0f", longest->x[i]);
		if (column < at || column + (unsigned)bytes > plot->columns + 3)
			continue;
		fprintf(out, "%*s%s", (int)(column - at), "", number.text);
		at = column + (unsigned)bytes;
		if (i + 1 < longest->count) {
			fputc(' ', out);
			at++;
		}
	}
	fputs(" CPUs\n", out);
}

void plot_print(FILE *out, unsigned width, const char *title, const struct plot_curve *curves, size_t count)
{
	struct plot plot = {.columns = COLUMNS_MAX};
	const struct plot_curve *longest = curves;

	if (count > PLOT_CURVES_MAX)
		count = PLOT_CURVES_MAX;
	if (!count)
		return;
	if (width && width < COLUMNS_MAX + LABEL + 8)
		plot.columns = width > COLUMNS_MIN + LABEL + 8 ? width - LABEL - 8 : COLUMNS_MIN;
	for (size_t i = 1; i < count; i++)
		if (curves[i].count > longest->count)
			longest = &curves[i];
	find_bounds(&plot, curves, count);
	draw(&plot, curves, count);
	table_text(out, width, "", "%s", title);
	for (unsigned row = 0; row < ROWS; row++) {
		double y = exp(plot.top - (plot.top - plot.bottom) * row / (ROWS - 1));
		unsigned end = plot.columns;
		char label[32] = "";

		if (row % 3 == 0)
			snprintf(label, sizeof(label), "%.2g", y);
		while (end && plot.cells[row][end - 1] == ' ')
			end--;
		fprintf(out, "%*s|%.*s\n", LABEL, label, (int)end, plot.cells[row]);
	}
	fprintf(out, "%*s+", LABEL, "");
	for (unsigned i = 0; i < plot.columns; i++)
		fputc('-', out);
	fputc('\n', out);
	print_ticks(out, &plot, longest);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%*c %s\n", LABEL, (int)('A' + i), curves[i].name);
}
