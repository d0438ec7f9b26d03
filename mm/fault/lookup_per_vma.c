/* SPDX-License-Identifier: MIT */
/*
 * The choice `per_vma`: the walk is under RCU, then the fault holds the VMA's own lock for reading, which it
 * only tries to take: a count of readers with a bit for the writer. Who takes a VMA away sets the bit, for
 * good, and sleeps until the readers have left.
 */
#include "mm/fault/lookup.h"

#include "mm/space/vma_tree.h"
#include "port/wait.h"
#include "sync/rcu.h"

#define WRITER (UINT32_C(1) << 31)

static bool vma_read_trylock(struct vma *vma)
{
	uint32_t users = atomic_load_explicit(&vma->users, memory_order_relaxed);

	do {
		if (users & WRITER)
			return false;
		/* Acquire: what a reattach() undid comes before. */
	} while (!atomic_compare_exchange_weak_explicit(&vma->users, &users, users + 1, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

static struct vma *lock_vma_under_rcu(struct sf_space *space, uintptr_t address)
{
	struct vma *vma;

	port_rcu_read_lock();
	vma = vma_tree_find(&space->tree, address);
	if (vma && !vma_read_trylock(vma))
		vma = NULL;
	port_rcu_read_unlock();
	return vma;
}

static void find(struct fault *fault)
{
	if (fault->must_lock)
		lookup_find_locked(fault);
	else
		fault->vma = lock_vma_under_rcu(fault->space, fault->address);
}

/* The read section keeps the VMA's memory until the wake is done: who is woken may free it. */
static void vma_read_unlock(struct vma *vma)
{
	port_rcu_read_lock();
	/* Release: the fault's work comes before what the writer does. */
	if (atomic_fetch_sub_explicit(&vma->users, 1, memory_order_release) == (WRITER | 1))
		port_wake(&vma->users, 1);
	port_rcu_read_unlock();
}

static void put(struct fault *fault)
{
	if (fault->locked)
		lookup_put_locked(fault);
	else if (fault->vma)
		vma_read_unlock(fault->vma);
}

static void detach(struct vma *vma)
{
	uint32_t users;

	atomic_store_explicit(&vma->detached, true, memory_order_seq_cst);
	users = atomic_fetch_or_explicit(&vma->users, WRITER, memory_order_acquire) | WRITER;
	while (users != WRITER) {
		lock_rank_may_sleep();
		port_wait(&vma->users, users);
		users = atomic_load_explicit(&vma->users, memory_order_acquire);
	}
}

static void reattach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, false, memory_order_seq_cst);
	atomic_fetch_and_explicit(&vma->users, ~WRITER, memory_order_release);
}

const struct vma_lookup_ops lookup_per_vma_ops = {
    .lock = &rwsem_xadd_ops,
    .detach = detach,
    .reattach = reattach,
    .find = find,
    .put = put,
};
