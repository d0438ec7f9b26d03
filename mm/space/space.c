/* SPDX-License-Identifier: MIT */
/*
 * Spaces come and go.
 */
#include "mm/space/internal.h"
#include "mm/space/vma_cache.h"
#include "mm/space/vma_link.h"
#include "mm/table/range.h"
#include "port/memory.h"
#include "port/panic.h"
#include "sync/rcu.h"

struct sf_space *space_create(const struct space_parts *parts, struct sf_group *group)
{
	struct charge charge = {.group = group};
	struct sf_space *space = port_memory_alloc(sizeof(*space), PORT_NODE_FIRST_TOUCH, "struct sf_space");

	if (!space)
		return NULL;
	space->parts = *parts;
	if (percpu_alloc(&space->cpu, sizeof(struct space_cpu), "struct space_cpu"))
		goto no_cpu;
	group_add_space(group);
	if (table_init(&space->table, parts->frames, parts->policy->page_table_lock, &charge))
		goto no_table;
	rmap_space_init(&space->rmap, &space->table, space_may_unmap);
	atomic_init(&space->group, group);
	vma_tree_init(&space->tree, parts->node_cache);
	rwsem_init(&space->lock, parts->lookup->lock, LOCK_RANK_SPACE, parts->lock_nodes);
	space->limit_pages = UINT64_MAX;
	space->limit_locked = SPACE_LOCKED_MAX;
	space->limit_maps = SPACE_MAP_COUNT_MAX;
	return space;
no_table:
	group_remove_space(group);
	percpu_free(&space->cpu);
no_cpu:
	port_memory_free(space, sizeof(*space));
	return NULL;
}

void space_set_group(struct sf_space *space, struct sf_group *group)
{
	struct sf_group *old;

	group_add_space(group);
	down_write(&space->lock);
	old = rcu_dereference_locked(&space->group);
	rcu_assign_pointer(&space->group, group);
	up_write(&space->lock);
	port_rcu_synchronize();
	group_remove_space(old);
}

void space_destroy(struct sf_space *space)
{
	struct vma *vma, *all = NULL;
	struct gather gather;

	precondition(!atomic_load_explicit(&space->table.translations.tlbs, memory_order_relaxed),
		     "sf_space_destroy() of a space with TLBs: sf_tlb_destroy() comes first");
	/* Nobody else uses the space; but what is called here is for holders of its lock. */
	down_write(&space->lock);
	tlb_gather_mmu(&gather, &space->table);
	table_zap(&space->table, 0, TABLE_ADDRESS_END, &gather);
	tlb_finish_mmu(&gather);
	for (vma = vma_tree_next(&space->tree, 0); vma; vma = vma_tree_next(&space->tree, vma->end)) {
		vma->next = all;
		all = vma;
	}
	vma_tree_destroy(&space->tree);
	up_write(&space->lock);
	while ((vma = all)) {
		all = vma->next;
		vma_unlink(vma);
		vma_free(vma);
	}
	rmap_space_end(&space->rmap);
	table_destroy(&space->table);
	group_remove_space(rcu_dereference_locked(&space->group));
	percpu_free(&space->cpu);
	port_memory_free(space, sizeof(*space));
}
