/* SPDX-License-Identifier: MIT */
/*
 * The choices `rwsem_spin` and `rwsem_xadd`: the space's lock is held for reading through the whole fault, as
 * kernels did until 2023. A writer has the lock to itself, so no fault is at work when it takes a VMA away.
 */
#include "mm/fault/lookup.h"

static void detach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, true, memory_order_seq_cst);
}

static void reattach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, false, memory_order_seq_cst);
}

const struct vma_lookup_ops lookup_rwsem_spin_ops = {
    .lock = &rwsem_spin_ops,
    .detach = detach,
    .reattach = reattach,
    .find = lookup_find_locked,
    .put = lookup_put_locked,
};

const struct vma_lookup_ops lookup_rwsem_xadd_ops = {
    .lock = &rwsem_xadd_ops,
    .detach = detach,
    .reattach = reattach,
    .find = lookup_find_locked,
    .put = lookup_put_locked,
};
