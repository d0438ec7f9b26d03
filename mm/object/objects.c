/* SPDX-License-Identifier: MIT */
#include "mm/object/objects.h"

#include "mm/object/cache.h"
#include "mm/object/index_nodes.h"
#include "mm/object/page_index.h"
#include "mm/object/shmem.h"
#include "port/memory.h"
#include "softfault.h"

static const struct shmem_ops *shmem_choice(const struct policy *policy)
{
	switch (policy->shmem_account) {
	case POLICY_SHMEM_ACCOUNT_INODE_LOCK:
		return policy->shmem_alloc == POLICY_SHMEM_ALLOC_INSIDE ? &shmem_lock_inside_ops
									: &shmem_lock_before_ops;
	case POLICY_SHMEM_ACCOUNT_RAMFS:
		return &shmem_ramfs_ops;
	default:
		return &shmem_per_cpu_ops;
	}
}

struct objects *objects_create(struct sf_system *system, struct frames *frames, const struct policy *policy,
			       const struct lock_nodes *lock_nodes)
{
	struct objects *objects =
	    port_memory_alloc(sizeof(*objects), PORT_NODE_FIRST_TOUCH, "struct objects");

	if (!objects)
		return NULL;
	objects->system = system;
	objects->frames = frames;
	objects->lock_nodes = lock_nodes;
	objects->index_ops = page_index_choices[policy->page_index];
	objects->shmem_ops = shmem_choice(policy);
	spin_lock_init(&objects->list_lock, LOCK_RANK_OBJECT_LIST);
	objects->write_back_pages = SF_IO_PAGES_MAX;
	objects->dirty_by_pte = policy->dirty_tracking == POLICY_DIRTY_TRACKING_PTE;
	if (objects->dirty_by_pte)
		frames->set_dirty = object_set_dirty;
	objects->nodes = index_nodes_create(frames);
	if (!objects->nodes ||
	    percpu_alloc(&objects->cpu, sizeof(struct objects_cpu), "struct objects_cpu")) {
		index_nodes_destroy(objects->nodes);
		port_memory_free(objects, sizeof(*objects));
		return NULL;
	}
	return objects;
}

void objects_destroy(struct objects *objects)
{
	if (!objects)
		return;
	percpu_free(&objects->cpu);
	index_nodes_destroy(objects->nodes);
	port_memory_free(objects, sizeof(*objects));
}
