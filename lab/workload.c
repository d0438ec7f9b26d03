/* SPDX-License-Identifier: MIT */
#include "lab/workload.h"

#include <errno.h>
#include <string.h>

#include "lab/names.h"

static const struct workload *const workloads[] = {&workload_pfn_insert};

const struct workload *workload_find(const char *name, struct message *why)
{
	const char *names[ARRAY_SIZE(workloads)];
	char suggestion[MESSAGE_BYTES / 2];

	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++) {
		names[i] = workloads[i]->name;
		if (!strcmp(names[i], name))
			return workloads[i];
	}
	names_suggest(suggestion, sizeof(suggestion), name, names, ARRAY_SIZE(names));
	message_set(why, -ENOENT, "there is no workload \"%s\"; %s", message_quote(name).text, suggestion);
	return NULL;
}
