/* SPDX-License-Identifier: MIT */
#include "lab/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* A file of lab/page/, which the Makefile puts into the program. */
#define PART(name) extern const char _binary_##name##_start[], _binary_##name##_end[]

PART(page_html);
PART(style_css);
PART(script_js);

struct part {
	const char *mark; /* in the page */
	const char *start, *end;
};

/* JSON inside a script element: no "<" of a text may look like its end. */
static void write_data(FILE *out, const char *json)
{
	for (size_t plain; *json; json += plain) {
		plain = strcspn(json, "<");
		fwrite(json, 1, plain, out);
		if (json[plain] == '<') {
			fputs("\\u003c", out);
			plain++;
		}
	}
}

static char *data_of(const struct page_file *files, size_t count)
{
	json_t *array = json_array(), *data;
	char *text;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		    array, json_pack("{s:s, s:O}", "path", files[i].path, "root", (json_t *)files[i].root));
	data = json_pack("{s:o}", "files", array);
	text = data ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
	json_decref(data);
	return text;
}

/* Returns the first of the marks at or after `at`, whose place is *place, or NULL. */
static const struct part *next_mark(const struct part *parts, size_t count, const char *at, const char *end,
				    const char **place)
{
	const struct part *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *here = memmem(at, (size_t)(end - at), parts[i].mark, strlen(parts[i].mark));

		if (here && (!found || here < *place)) {
			found = &parts[i];
			*place = here;
		}
	}
	return found;
}

int page_write(FILE *out, const struct page_file *files, size_t count)
{
	const struct part parts[] = {{"@STYLE@", _binary_style_css_start, _binary_style_css_end},
				     {"@SCRIPT@", _binary_script_js_start, _binary_script_js_end},
				     {"@DATA@", NULL, NULL}};
	const char *at = _binary_page_html_start, *end = _binary_page_html_end, *place = NULL;
	char *data = data_of(files, count);
	const struct part *part;

	if (!data)
		return -ENOMEM;
	while ((part = next_mark(parts, ARRAY_SIZE(parts), at, end, &place))) {
		fwrite(at, 1, (size_t)(place - at), out);
		if (part->start)
			fwrite(part->start, 1, (size_t)(part->end - part->start), out);
		else
			write_data(out, data);
		at = place + strlen(part->mark);
	}
	fwrite(at, 1, (size_t)(end - at), out);
	free(data);
	return 0;
}
