/* SPDX-License-Identifier: MIT */
/*
 * Tables for people, as wide as there is room for.
 */
#ifndef LAB_TABLE_H
#define LAB_TABLE_H

#include <stdio.h>

#include "base/compiler.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
	const char *header; /* with the unit: "time (s)" */
	enum table_align align;
	/* What goes when there is no room: the columns with the greatest number first; 0 stays. */
	int drop;
	/* May be made narrower, its text then going on in the next line. At most one column of a table. */
	int wrap;
};

struct table;

/* Makes an empty table; the columns must outlive it. Ends the program when memory runs out. */
struct table *table_create(const struct table_column *columns, size_t count);
void table_free(struct table *table);

/* Adds the next cell of the current row; a row ends with its last cell. */
void table_cell(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/* Adds a line that belongs to the row above, in the column that wraps; the other cells stay empty. */
void table_under(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints the table, at most `width` columns wide if that can be; 0 is as wide as it likes. Columns that were
 * left out are named under it. */
void table_print(const struct table *table, FILE *out, unsigned width);

/* Prints a paragraph, broken at spaces to `width` (0: 100), each line after `indent`. */
void table_text(FILE *out, unsigned width, const char *indent, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
