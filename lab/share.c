/* SPDX-License-Identifier: MIT */
#include "lab/share.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

/* What is longer is no name of a function of ours. */
#define NAME_BYTES 256

static bool is_called(const char *pattern, const char *name, size_t length)
{
	char copy[NAME_BYTES];

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, name, length);
	copy[length] = '\0';
	return !fnmatch(pattern, copy, 0);
}

/* `path` is "outer;inner;innermost". */
static bool fits(const char *path, char *const *functions, size_t count)
{
	const char *end = path + strlen(path);
	size_t found = 0;

	while (found < count && end > path) {
		const char *start = end;

		while (start > path && start[-1] != ';')
			start--;
		if (is_called(functions[found], start, (size_t)(end - start)))
			found++;
		end = start > path ? start - 1 : start;
	}
	return found == count;
}

double share_percent(const struct vsmp_report *report, char *const *functions, size_t count, char *const *of,
		     size_t of_count)
{
	double part = 0, whole = 0;

	for (size_t i = 0; i < report->stack_count; i++) {
		const struct vsmp_stack_row *stack = &report->stacks[i];

		if (!fits(stack->path, of, of_count))
			continue;
		whole += (double)stack->self_cycles;
		if (fits(stack->path, functions, count))
			part += (double)stack->self_cycles;
	}
	return whole > 0 ? 100.0 * part / whole : -1;
}
