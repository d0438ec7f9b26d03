/* SPDX-License-Identifier: MIT */
#include "lab/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [VSMP_FILL] = "fill", [VSMP_SPREAD] = "spread", [VSMP_COMPACT] = "compact"};

const char *placement_name(enum vsmp_placement_kind kind)
{
	return names[kind];
}

int placement_parse(struct vsmp_placement *placement, const char *text, struct message *why)
{
	size_t length = strcspn(text, ":");
	unsigned long bound = 0;
	char *end;

	if (text[length]) {
		bound = strtoul(text + length + 1, &end, 10);
		if (text[length + 1] < '0' || text[length + 1] > '9' || *end || !bound ||
		    bound > VSMP_CPUS_MAX)
			goto wrong;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == length && !strncmp(names[i], text, length)) {
			placement->kind = (enum vsmp_placement_kind)i;
			placement->cpus_per_socket = (unsigned)bound;
			return 0;
		}
wrong:
	return message_set(
	    why, -EINVAL,
	    "\"%s\" is no placement; give fill, spread or compact, and after a colon the most CPUs of a "
	    "socket if there is a bound, such as fill:4",
	    message_quote(text).text);
}
