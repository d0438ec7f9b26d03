/* SPDX-License-Identifier: MIT */
#include "lab/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of more names than this is no help in a message of one line. */
#define LIST_MAX 24

/* Names are short; a longer one is not near anything. */
#define NAME_MAX_BYTES 64

int names_add(struct names *names, const char *name)
{
	char **larger;
	char *copy;

	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	larger = realloc(names->name, (names->count + 1) * sizeof(*larger));
	if (!larger) {
		free(copy);
		return -ENOMEM;
	}
	names->name = larger;
	names->name[names->count++] = copy;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names)
{
	if (names->count)
		qsort(names->name, names->count, sizeof(*names->name), by_name);
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	names->name = NULL;
	names->count = 0;
}

/* How many characters must be added, removed or changed to make `b` of `a` (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_BYTES + 1];
	size_t a_bytes = strlen(a), b_bytes = strlen(b);

	if (a_bytes > NAME_MAX_BYTES || b_bytes > NAME_MAX_BYTES)
		return NAME_MAX_BYTES;
	for (size_t j = 0; j <= b_bytes; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			size_t changed = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j]++;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			if (changed < row[j])
				row[j] = changed;
		}
	}
	return row[b_bytes];
}

void names_suggest(char *text, size_t size, const char *wrong, const char *const *names, size_t count)
{
	const char *near = NULL;
	size_t nearest = 3;
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		size_t apart = distance(wrong, names[i]);

		if (apart < nearest && apart < strlen(names[i])) {
			nearest = apart;
			near = names[i];
		}
	}
	text[0] = '\0';
	if (near)
		used = (size_t)snprintf(text, size, "did you mean \"%s\"?", near);
	if (!count) {
		snprintf(text, size, "there are none");
		return;
	}
	if (near && count > LIST_MAX)
		return;
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i      ? ", "
					 : near ? " there are: "
						: "there are: ",
					 names[i]);
}
