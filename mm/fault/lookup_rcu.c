/* SPDX-License-Identifier: MIT */
/*
 * The choice `rcu`: the fault stands in one read section from the walk to the installed entry, which keeps
 * the VMA's memory, and writes nothing for it. What keeps the fault from installing for a VMA that was taken
 * away meanwhile is its look at `detached` while it holds the entry's lock: docs/LOCKING.md, "A fault and an
 * unmap".
 */
#include "mm/fault/lookup.h"

#include "mm/space/vma_tree.h"
#include "sync/rcu.h"

static struct vma *find_vma_under_rcu(struct sf_space *space, uintptr_t address)
{
	return vma_tree_find(&space->tree, address);
}

static void find(struct fault *fault)
{
	if (fault->must_lock) {
		lookup_find_locked(fault);
		return;
	}
	port_rcu_read_lock();
	fault->vma = find_vma_under_rcu(fault->space, fault->address);
}

static void put(struct fault *fault)
{
	if (fault->locked)
		lookup_put_locked(fault);
	else
		port_rcu_read_unlock();
}

static void detach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, true, memory_order_seq_cst);
	/* Before the writer's loads of entries; the fault's side is its read-modify-write of the entry. */
	atomic_thread_fence(memory_order_seq_cst);
}

static void reattach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, false, memory_order_seq_cst);
}

const struct vma_lookup_ops lookup_rcu_ops = {
    .lock = &rwsem_xadd_ops,
    .detach = detach,
    .reattach = reattach,
    .find = find,
    .put = put,
};
