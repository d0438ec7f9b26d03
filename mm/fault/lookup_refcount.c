/* SPDX-License-Identifier: MIT */
/*
 * The choice `refcount`: the walk is under RCU, then the fault holds a reference on the VMA, which every
 * fault on that VMA writes. A VMA is born with one reference, its own; who takes the VMA away puts that one
 * and sleeps until none is left. From then on no reference can be had: such a fault comes back empty-handed
 * and takes the space's lock.
 */
#include "mm/fault/lookup.h"

#include "mm/space/vma_tree.h"
#include "port/panic.h"
#include "port/wait.h"
#include "sync/rcu.h"

static bool get_unless_zero(struct vma *vma)
{
	uint32_t users = atomic_load_explicit(&vma->users, memory_order_relaxed);

	do {
		if (!users)
			return false;
		invariant(users < REFCOUNT_MAX);
		/* Acquire: what a reattach() undid comes before. */
	} while (!atomic_compare_exchange_weak_explicit(&vma->users, &users, users + 1, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

static struct vma *find_vma_speculative(struct sf_space *space, uintptr_t address)
{
	struct vma *vma;

	port_rcu_read_lock();
	vma = vma_tree_find(&space->tree, address);
	if (vma && !get_unless_zero(vma))
		vma = NULL;
	port_rcu_read_unlock();
	return vma;
}

static void find(struct fault *fault)
{
	if (fault->must_lock)
		lookup_find_locked(fault);
	else
		fault->vma = find_vma_speculative(fault->space, fault->address);
}

/* The read section keeps the VMA's memory until the wake is done: who is woken may free it. */
static void vma_put(struct vma *vma)
{
	port_rcu_read_lock();
	/* Release: the fault's work comes before what the one who waits does. */
	if (atomic_fetch_sub_explicit(&vma->users, 1, memory_order_release) == 1)
		port_wake(&vma->users, 1);
	port_rcu_read_unlock();
}

static void put(struct fault *fault)
{
	if (fault->locked)
		lookup_put_locked(fault);
	else if (fault->vma)
		vma_put(fault->vma);
}

static void detach(struct vma *vma)
{
	uint32_t users;

	atomic_store_explicit(&vma->detached, true, memory_order_seq_cst);
	users = atomic_fetch_sub_explicit(&vma->users, 1, memory_order_acquire) - 1;
	while (users) {
		lock_rank_may_sleep();
		port_wait(&vma->users, users);
		users = atomic_load_explicit(&vma->users, memory_order_acquire);
	}
}

static void reattach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, false, memory_order_seq_cst);
	atomic_store_explicit(&vma->users, 1, memory_order_release);
}

const struct vma_lookup_ops lookup_refcount_ops = {
    .lock = &rwsem_xadd_ops,
    .users_idle = 1,
    .detach = detach,
    .reattach = reattach,
    .find = find,
    .put = put,
};
