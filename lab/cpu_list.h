/* SPDX-License-Identifier: MIT */
/*
 * Lists of CPU counts as a person writes them: "1,2,4-64".
 */
#ifndef LAB_CPU_LIST_H
#define LAB_CPU_LIST_H

#include "base/message.h"

#define CPU_LIST_MAX 1024u /* the greatest count, and the most counts there can be */

struct cpu_list {
	unsigned cpus[CPU_LIST_MAX]; /* each once, growing */
	unsigned count;
};

/*
 * Reads a list of counts and ranges with commas between. A range doubles from its first to its last, which is
 * always there: 4-64 is 4, 8, 16, 32, 64 and 3-10 is 3, 6, 10. Returns 0, or -EINVAL with a message.
 */
int cpu_list_parse(struct cpu_list *list, const char *text, struct message *why);

/* Adds one count, 1 to CPU_LIST_MAX, unless it is there. */
void cpu_list_add(struct cpu_list *list, unsigned cpus);

#endif
