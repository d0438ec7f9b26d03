/* SPDX-License-Identifier: MIT */
#include "mm/fault/lookup.h"

#include "mm/policy/policy.h"
#include "mm/space/vma_tree.h"

const struct vma_lookup_ops *const vma_lookup_choices[] = {
    [POLICY_VMA_LOOKUP_RCU] = &lookup_rcu_ops,
    [POLICY_VMA_LOOKUP_REFCOUNT] = &lookup_refcount_ops,
    [POLICY_VMA_LOOKUP_PER_VMA] = &lookup_per_vma_ops,
    [POLICY_VMA_LOOKUP_RWSEM_SPIN] = &lookup_rwsem_spin_ops,
    [POLICY_VMA_LOOKUP_RWSEM_XADD] = &lookup_rwsem_xadd_ops,
};

/* The walk of a fault that holds the lock. */
static struct vma *find_vma(struct sf_space *space, uintptr_t address)
{
	return vma_tree_find(&space->tree, address);
}

void lookup_find_locked(struct fault *fault)
{
	struct sf_space *space = fault->space;

	if (!down_read_trylock(&space->lock))
		down_read(&space->lock);
	fault->locked = true;
	fault->vma = find_vma(space, fault->address);
}

void lookup_put_locked(struct fault *fault)
{
	fault->locked = false;
	up_read(&fault->space->lock);
}
