/* SPDX-License-Identifier: MIT */
#include "lab/cpu_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cpu_list_add(struct cpu_list *list, unsigned cpus)
{
	unsigned at = 0;

	while (at < list->count && list->cpus[at] < cpus)
		at++;
	if (at < list->count && list->cpus[at] == cpus)
		return;
	memmove(&list->cpus[at + 1], &list->cpus[at], (list->count - at) * sizeof(list->cpus[0]));
	list->cpus[at] = cpus;
	list->count++;
}

/* Reads one count at *text and moves behind it. */
static int parse_count(const char **text, unsigned *count)
{
	unsigned long value;
	char *end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno || value < 1 || value > CPU_LIST_MAX)
		return -EINVAL;
	*text = end;
	*count = (unsigned)value;
	return 0;
}

int cpu_list_parse(struct cpu_list *list, const char *text, struct message *why)
{
	const char *at = text;

	list->count = 0;
	for (;;) {
		unsigned first, last;

		if (parse_count(&at, &first))
			goto wrong;
		last = first;
		if (*at == '-') {
			at++;
			if (parse_count(&at, &last) || last < first)
				goto wrong;
		}
		for (unsigned cpus = first; cpus < last; cpus *= 2)
			cpu_list_add(list, cpus);
		cpu_list_add(list, last);
		if (!*at)
			return 0;
		if (*at++ != ',')
			goto wrong;
	}
wrong:
	return message_set(
	    why, -EINVAL,
	    "\"%s\" is no list of CPU counts; give counts and ranges of 1 to %u, such as 1,2,4-64",
	    message_quote(text).text, CPU_LIST_MAX);
}
