/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking systems.
 */
#include "mm/system/system.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/object/objects.h"
#include "mm/reclaim/reclaim.h"
#include "mm/space/vma_cache.h"
#include "mm/space/vma_node_cache.h"
#include "mm/swap/swap.h"
#include "mm/system/internal.h"
#include "mm/system/object.h"
#include "port/memory.h"
#include "port/page.h"

#define SWAP_READ_AHEAD_PAGES 8u

/* The least, and the share of RAM, that may wait for grace periods after calls on all CPUs. */
#define RETIRED_BYTES_MIN ((int64_t)64 << 10)
#define RETIRED_SHARE     16u

static int64_t retired_max(uint64_t own_frames)
{
	int64_t bytes = (int64_t)((own_frames << PORT_PAGE_SHIFT) / RETIRED_SHARE / port_cpu_count());

	return bytes < RETIRED_BYTES_MIN ? RETIRED_BYTES_MIN : bytes;
}

/*
 * The CPU's count also moves when other CPUs free what it retired, and when it frees what they did
 * (sync/retired.h). So it is compared with what it was when nothing of the CPU waited.
 */
void system_bound_retired(struct sf_system *system)
{
	const struct frame_counts *counts = percpu_this(&system->frames->counts);
	int64_t bytes = atomic_load_explicit(&counts->retired.bytes, memory_order_relaxed);
	struct system_cpu *cpu = percpu_this(&system->cpu);

	if (bytes < cpu->retired_base)
		cpu->retired_base = bytes;
	if (likely(bytes - cpu->retired_base <= system->retired_max))
		return;
	port_rcu_synchronize();
	port_rcu_poll();
	cpu->retired_base = atomic_load_explicit(&counts->retired.bytes, memory_order_relaxed);
}

static void free_parts(struct sf_system *system)
{
	reclaim_destroy(system->reclaim);
	vma_cache_destroy(system->parts.vma_cache);
	vma_node_cache_destroy(system->parts.node_cache);
	objects_destroy(system->parts.objects);
	swap_destroy(system->swap);
	memtypes_destroy(system->memtypes);
	groups_destroy(system->groups);
	frames_destroy(system->frames);
	percpu_free(&system->space_lists);
	percpu_free(&system->cpu);
	lock_nodes_close(&system->lock_nodes);
	port_memory_free(system, sizeof(*system));
}

static int make_parts(struct sf_system *system, const struct system_config *config)
{
	const struct frames_config frames = {
	    .own_frames = config->own_frames,
	    .exported_frames = config->exported_frames,
	    .structure_only = config->structure_only,
	    .cache = config->policy.frame_cache,
	    .lru_add = config->policy.lru_add,
	    .gather_batches = config->gather_batches,
	    .pcp_batches = config->pcp_batches,
	};
	struct space_parts *parts = &system->parts;

	if (lock_nodes_open(&system->lock_nodes) ||
	    percpu_alloc(&system->cpu, sizeof(struct system_cpu), "struct system_cpu") ||
	    percpu_alloc(&system->space_lists, sizeof(struct space_list), "struct space_list"))
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
		spin_lock_init(&((struct space_list *)percpu_of(&system->space_lists, cpu))->lock,
			       LOCK_RANK_SPACE_LIST);
	system->frames = frames_create(&frames);
	if (!system->frames)
		return -ENOMEM;
	system->groups = groups_create(system->frames, &config->policy);
	system->swap = swap_create(&(struct swap_config){
	    .frames = system->frames,
	    .read_ahead_pages =
		config->swap_read_ahead_pages ? config->swap_read_ahead_pages : SWAP_READ_AHEAD_PAGES,
	});
	system->memtypes = memtypes_create(system->frames, config->policy.memtype);
	parts->vma_cache = vma_cache_create(&system->lock_nodes);
	parts->node_cache = vma_node_cache_create();
	parts->objects = objects_create(system, system->frames, &system->policy, &system->lock_nodes);
	if (!system->groups || !system->swap || !system->memtypes || !parts->vma_cache ||
	    !parts->node_cache || !parts->objects)
		return -ENOMEM;
	system->frames->swap = system->swap;
	rmap_init(&system->rmap, system->frames, &system->policy);
	system->reclaim = reclaim_create(&(struct reclaim_config){
	    .frames = system->frames,
	    .groups = system->groups,
	    .swap = system->swap,
	    .rmap = &system->rmap,
	    .objects = parts->objects,
	});
	if (!system->reclaim)
		return -ENOMEM;
	system->groups->system = system;
	parts->objects->protect = object_protect;
	if (config->write_back_pages)
		parts->objects->write_back_pages = config->write_back_pages;
	parts->system = system;
	parts->frames = system->frames;
	parts->memtypes = system->memtypes;
	parts->policy = &system->policy;
	parts->lookup = vma_lookup_choices[config->policy.vma_lookup];
	parts->lock_nodes = &system->lock_nodes;
	parts->map_base = config->map_base ? (uintptr_t)config->map_base : SPACE_MAP_BASE;
	parts->map_min = config->map_min ? (uintptr_t)config->map_min : SPACE_MAP_MIN;
	return 0;
}

static int check_config(const struct system_config *config, struct message *why)
{
	if (config->own_frames < 2 || config->own_frames > FRAMES_MAX ||
	    config->exported_frames > FRAMES_MAX - config->own_frames)
		return message_set(why, -EINVAL,
				   "a system of %" PRIu64 " own and %" PRIu64
				   " exported frames: there must be two own ones, and at most %" PRIu64
				   " of both",
				   config->own_frames, config->exported_frames, FRAMES_MAX);
	if ((config->map_base | config->map_min) % PORT_PAGE_SIZE || config->map_base > SPACE_END ||
	    config->map_min > SPACE_END)
		return message_set(why, -EINVAL,
				   "mappings from %#" PRIx64 " down to %#" PRIx64
				   ": both must be whole pages, at most %#" PRIxPTR,
				   config->map_base, config->map_min, SPACE_END);
	if (config->swap_read_ahead_pages & (config->swap_read_ahead_pages - 1) ||
	    config->swap_read_ahead_pages > SF_IO_PAGES_MAX)
		return message_set(why, -EINVAL,
				   "%u swapped pages read at once: it must be a power of two, at most %u",
				   config->swap_read_ahead_pages, SF_IO_PAGES_MAX);
	if (config->write_back_pages > SF_IO_PAGES_MAX)
		return message_set(why, -EINVAL, "%u pages written at once: it must be at most %u",
				   config->write_back_pages, SF_IO_PAGES_MAX);
	return policy_check(&config->policy, why);
}

int system_create(const struct system_config *config, struct sf_system **result, struct message *why)
{
	struct sf_system *system;
	int error = check_config(config, why);

	if (error)
		return error;
	system = port_memory_alloc(sizeof(*system), PORT_NODE_FIRST_TOUCH, "struct sf_system");
	if (system) {
		system->policy = config->policy;
		system->structure_only = config->structure_only;
		system->retired_max = retired_max(config->own_frames);
		rwsem_init(&system->swap_areas_lock, &rwsem_xadd_ops, LOCK_RANK_NONE, &system->lock_nodes);
		error = make_parts(system, config);
		if (error)
			free_parts(system);
	}
	if (!system || error)
		return message_set(why, -ENOMEM,
				   "no memory for the tables of a system of %" PRIu64 " own and %" PRIu64
				   " exported frames",
				   config->own_frames, config->exported_frames);
	*result = system;
	return 0;
}

void system_destroy(struct sf_system *system)
{
	precondition(!system_next_space(system, NULL),
		     "sf_system_destroy() with spaces: sf_space_destroy() comes first");
	precondition(!frames_counted(system->frames, FRAMES_PINNED),
		     "sf_system_destroy() with pages pinned: sf_unpin() comes first");
	precondition(!system->parts.objects->list,
		     "sf_system_destroy() with objects: sf_object_close() comes first");
	precondition(!groups_any_live(system->groups),
		     "sf_system_destroy() with groups: sf_group_destroy() comes first");
	system_barrier();
	free_parts(system);
}

void system_cpu_idle(struct sf_system *system)
{
	groups_cpu_idle(system->groups);
}

bool system_structure_only(const struct sf_system *system)
{
	return system->structure_only;
}

struct memtypes *system_memtypes(struct sf_system *system)
{
	return system->memtypes;
}
