/* SPDX-License-Identifier: MIT */
#include "lab/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GAP         2  /* columns between two */
#define WRAP_MIN    20 /* the column that wraps is not made narrower than this */
#define COLUMNS_MAX 24
#define TEXT_WIDTH  100 /* of paragraphs, where there is no bound */

struct table {
	const struct table_column *columns;
	size_t count;
	char **cells; /* row by row */
	size_t used;
};

struct table *table_create(const struct table_column *columns, size_t count)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table || count > COLUMNS_MAX)
		abort();
	table->columns = columns;
	table->count = count;
	return table;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->used; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

static void add_cell(struct table *table, char *text)
{
	char **larger = realloc(table->cells, (table->used + 1) * sizeof(*larger));

	if (!larger || !text)
		abort();
	table->cells = larger;
	table->cells[table->used++] = text;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	add_cell(table, text);
}

void table_under(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	for (size_t i = 0; i < table->count; i++)
		add_cell(table, table->columns[i].wrap ? text : strdup(""));
}

/* How the columns come out for a width; 0 is a column that is left out. */
struct layout {
	size_t width[COLUMNS_MAX];
};

static size_t total(const struct table *table, const struct layout *layout)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->count; i++)
		if (layout->width[i])
			sum += layout->width[i] + (sum ? GAP : 0);
	return sum;
}

/* The longest part of a header that must stay on one line; it may be broken at spaces and behind hyphens. */
static size_t longest_word(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, " -");

		length += text[length] == '-';
		if (length > longest)
			longest = length;
		text += length + (text[length] == ' ');
	}
	return longest;
}

/* As wide as what is in each column; with `broken`, headers may take several lines. */
static void natural(const struct table *table, struct layout *layout, bool broken)
{
	for (size_t i = 0; i < table->count; i++) {
		const char *header = table->columns[i].header;

		layout->width[i] = broken ? longest_word(header) : strlen(header);
		for (size_t cell = i; cell < table->used; cell += table->count)
			if (strlen(table->cells[cell]) > layout->width[i])
				layout->width[i] = strlen(table->cells[cell]);
	}
}

/* Leaves out the column that goes first; false when all that are left stay. */
static bool drop_one(const struct table *table, struct layout *layout)
{
	size_t drop = table->count;

	for (size_t i = 0; i < table->count; i++)
		if (layout->width[i] && table->columns[i].drop &&
		    (drop == table->count || table->columns[i].drop > table->columns[drop].drop))
			drop = i;
	if (drop == table->count)
		return false;
	layout->width[drop] = 0;
	return true;
}

/* Breaks headers first; then narrows the column that wraps; then leaves out columns, and gives what that
 * frees to the column that wraps. */
static void fit(const struct table *table, struct layout *layout, size_t width)
{
	size_t wraps = table->count, wanted = 0;

	natural(table, layout, false);
	if (!width || total(table, layout) <= width)
		return;
	natural(table, layout, true);
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i].wrap) {
			wraps = i;
			wanted = layout->width[i];
			layout->width[i] = wanted < WRAP_MIN ? wanted : WRAP_MIN;
		}
	while (total(table, layout) > width && drop_one(table, layout))
		continue;
	if (wraps < table->count && total(table, layout) < width) {
		layout->width[wraps] += width - total(table, layout);
		if (layout->width[wraps] > wanted)
			layout->width[wraps] = wanted;
	}
}

/* Returns how much of `text` goes on one line of `width`: up to a space, behind a mark between the parts of a
 * name, or all that fits. */
static size_t line_length(const char *text, size_t width)
{
	size_t length = strlen(text), at;

	if (!width || length <= width)
		return length;
	for (at = width; at > 0; at--)
		if (text[at] == ' ' && text[at - 1] != ' ')
			return at;
	for (at = width; at > 0; at--)
		if (strchr("-.+/,", text[at - 1]))
			return at;
	return width;
}

/*
 * Prints the next line of each cell of a row, where rest[i] is what is left of cell i and hang[i] how far its
 * further lines are indented. False when all cells had come to their end.
 */
static bool print_line(const struct table *table, const struct layout *layout, const char **rest,
		       const size_t *hang, FILE *out)
{
	size_t pending = 0; /* spaces not yet printed, so that no line ends in any */
	bool any = false, first = true;

	for (size_t i = 0; i < table->count; i++)
		any = any || (layout->width[i] && *rest[i]);
	if (!any)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		size_t width = layout->width[i], length;

		if (!width)
			continue;
		length = line_length(rest[i], width - hang[i]);
		if (!first)
			pending += GAP;
		first = false;
		if (table->columns[i].align == TABLE_RIGHT)
			pending += width - length;
		if (length) {
			fprintf(out, "%*s%.*s", (int)(pending + hang[i]), "", (int)length, rest[i]);
			pending = 0;
		}
		if (table->columns[i].align == TABLE_LEFT)
			pending += length ? width - hang[i] - length : width;
		rest[i] += length;
		while (*rest[i] == ' ')
			rest[i]++;
	}
	fputc('\n', out);
	return true;
}

/* Prints the lines of one row; what is indented at its start goes on indented further. */
static void print_row(const struct table *table, const struct layout *layout, const char **rest, FILE *out)
{
	size_t hang[COLUMNS_MAX] = {0}, later[COLUMNS_MAX] = {0};

	for (size_t i = 0; i < table->count; i++) {
		size_t spaces = strspn(rest[i], " ");

		if (spaces && table->columns[i].wrap && spaces + 2 < layout->width[i] / 2)
			later[i] = spaces + 2;
	}
	if (print_line(table, layout, rest, hang, out))
		while (print_line(table, layout, rest, later, out))
			continue;
}

void table_print(const struct table *table, FILE *out, unsigned width)
{
	const char *rest[COLUMNS_MAX];
	struct layout layout;
	char left_out[512] = "";

	fit(table, &layout, width);
	for (size_t i = 0; i < table->count; i++) {
		rest[i] = table->columns[i].header;
		if (!layout.width[i])
			snprintf(left_out + strlen(left_out), sizeof(left_out) - strlen(left_out), "%s%s",
				 *left_out ? ", " : "", rest[i]);
	}
	print_row(table, &layout, rest, out);
	for (size_t row = 0; row + table->count <= table->used; row += table->count) {
		for (size_t i = 0; i < table->count; i++)
			rest[i] = table->cells[row + i];
		print_row(table, &layout, rest, out);
	}
	if (*left_out)
		table_text(out, width, "", "(no room for: %s)", left_out);
}

void table_text(FILE *out, unsigned width, const char *indent, const char *format, ...)
{
	size_t columns = width ? width : TEXT_WIDTH;
	size_t room = columns > strlen(indent) + 10 ? columns - strlen(indent) : 10;
	va_list arguments;
	const char *at;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	for (at = text; *at;) {
		size_t length = line_length(at, room);

		fprintf(out, "%s%.*s\n", indent, (int)length, at);
		at += length;
		while (*at == ' ')
			at++;
	}
	free(text);
}
