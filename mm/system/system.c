/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking systems.
 */
#include "mm/system/system.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/system/internal.h"
#include "port/memory.h"

static void free_parts(struct sf_system *system)
{
	memtypes_destroy(system->memtypes);
	frames_destroy(system->frames);
	percpu_free(&system->cpu);
	lock_nodes_close(&system->lock_nodes);
	port_memory_free(system, sizeof(*system));
}

int sf_system_create(const struct sf_config *config, struct sf_system **result, struct message *why)
{
	const struct frames_config frames = {
	    .own_frames = config->own_frames,
	    .exported_frames = config->exported_frames,
	    .structure_only = config->structure_only,
	};
	struct sf_system *system;
	int error = policy_check(&config->policy, why);

	if (error)
		return error;
	if (config->own_frames < 1 || config->own_frames > FRAMES_MAX ||
	    config->exported_frames > FRAMES_MAX - config->own_frames)
		return message_set(why, -EINVAL,
				   "a system of %" PRIu64 " own and %" PRIu64
				   " exported frames: there must be an own one, and at most %" PRIu64
				   " of both",
				   config->own_frames, config->exported_frames, FRAMES_MAX);

	system = port_memory_alloc(sizeof(*system), PORT_NODE_FIRST_TOUCH, "struct sf_system");
	if (!system)
		goto no_memory;
	system->policy = config->policy;
	system->structure_only = config->structure_only;
	spin_lock_init(&system->space_list_lock, LOCK_RANK_SPACE_LIST);
	if (lock_nodes_open(&system->lock_nodes) ||
	    percpu_alloc(&system->cpu, sizeof(struct system_cpu), "struct system_cpu"))
		goto no_parts;
	system->frames = frames_create(&frames);
	if (!system->frames)
		goto no_parts;
	system->memtypes = memtypes_create(system->frames, config->policy.memtype);
	if (!system->memtypes)
		goto no_parts;
	*result = system;
	return 0;
no_parts:
	free_parts(system);
no_memory:
	return message_set(why, -ENOMEM,
			   "no memory for the tables of a system of %" PRIu64 " own and %" PRIu64
			   " exported frames",
			   config->own_frames, config->exported_frames);
}

void sf_system_destroy(struct sf_system *system)
{
	invariant(!system->spaces);
	port_rcu_barrier();
	free_parts(system);
}

struct memtypes *sf_system_memtypes(struct sf_system *system)
{
	return system->memtypes;
}
