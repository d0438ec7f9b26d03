/* SPDX-License-Identifier: MIT */
/*
 * The speculative page fault as it was first posted in 2009. A VMA's count of users starts at 1; an unmap
 * takes the VMA out of the tree, drops the count by one and sleeps until it is 0; a fault raises it unless it
 * is zero, and drops it afterwards. Whoever drops it to 1 wakes the sleeper: but the sleeper has dropped the
 * first one already, so the last fault drops it to 0, and nobody wakes anybody.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/fault/lookup.h"
#include "mm/space/vma_tree.h"
#include "port/wait.h"
#include "sync/rcu.h"
#include "tests/explore/fixture.h"

static bool get_unless_zero(struct vma *vma)
{
	uint32_t users = atomic_load_explicit(&vma->users, memory_order_relaxed);

	do {
		if (!users)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&vma->users, &users, users + 1, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

static void find(struct fault *fault)
{
	struct vma *vma;

	if (fault->must_lock) {
		lookup_find_locked(fault);
		return;
	}
	port_rcu_read_lock();
	vma = vma_tree_find(&fault->space->tree, fault->address);
	if (vma && !get_unless_zero(vma))
		vma = NULL;
	port_rcu_read_unlock();
	fault->vma = vma;
}

static void vma_put(struct vma *vma)
{
	uint32_t users;

	port_rcu_read_lock();
	users = atomic_fetch_sub_explicit(&vma->users, 1, memory_order_release) - 1; /* planted: wakes at 1 */
	if (users == 1)
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
		port_wait(&vma->users, users);
		users = atomic_load_explicit(&vma->users, memory_order_acquire);
	}
}

static const struct vma_lookup_ops lookup_2009_ops = {
    .lock = &rwsem_xadd_ops,
    .users_idle = 1,
    .detach = detach,
    .find = find,
    .put = put,
};

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	fixture_use_lookup(&lookup_2009_ops);
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	check_that(!sf_touch(fixture.space, AT + PAGE, SF_WRITE, NULL));
	return 0;
}

static void fault(void)
{
	fixture.result[0] = sf_touch(fixture.space, AT, SF_WRITE, NULL);
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
}

static bool holds(struct message *why)
{
	return fixture_equal("the entry", system_pte(fixture.space, AT), 0, why) && fixture_good(why);
}

const struct check planted_lookup_2009_check = {
    .name = "planted-lookup-2009",
    .summary = "the lookup of 2009, whose unmap nobody wakes; right: fault-unmap with vma_lookup=refcount",
    .setup = setup,
    .body = {fault, unmap},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "lost wake-up",
    .planted_mark = "planted: wakes at 1",
};
