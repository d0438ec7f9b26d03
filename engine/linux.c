/* SPDX-License-Identifier: MIT */
/*
 * The running kernel as an engine: what a user process can ask of it. It inserts no PFNs, so map_pfn is NULL,
 * and so far no workload asks for anything else.
 */
#include "engine/engine.h"

#include <errno.h>
#include <unistd.h>

static unsigned linux_cpus(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (unsigned)online : 1;
}

static int linux_open(const struct engine_config *config, struct message *why)
{
	(void)config;
	return message_set(why, -EOPNOTSUPP,
			   "a user process cannot build a memory system of its own choosing in "
			   "the running kernel; use --engine vsmp or host");
}

const struct engine engine_linux = {
    .name = "linux",
    .cpus = linux_cpus,
    .open = linux_open,
};
