/* SPDX-License-Identifier: MIT */
/*
 * Results as one page of HTML that needs nothing but itself. What it looks like and does is in lab/page/.
 */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include <jansson.h>
#include <stdio.h>

/* One result: what `run --json` and `reproduce --json` write, and the name under which the page shows it. */
struct page_file {
	const char *path;
	const json_t *root;
};

/* Writes the page; what could not be written shows in ferror(out). Returns 0 or -ENOMEM. */
int page_write(FILE *out, const struct page_file *files, size_t count);

#endif
