/* SPDX-License-Identifier: MIT */
/*
 * How a fault finds its VMA and keeps hold of it, as the policy `vma_lookup` says: the two functions of
 * struct vma_lookup_ops that are the fault's.
 *
 *   find  sets fault->vma to the VMA of fault->address, held until put(), or to NULL. With fault->must_lock,
 *         or where the choice is so, the space's lock is held for reading, and fault->locked says so; only
 *         then NULL is an answer. Otherwise it may also mean that a writer was in the way.
 *   put   lets go of the VMA, if any, and of the lock.
 *
 * Between the two the fault may be in an RCU read section; it does not sleep.
 */
#ifndef MM_FAULT_LOOKUP_H
#define MM_FAULT_LOOKUP_H

#include "mm/fault/fault.h"

extern const struct vma_lookup_ops lookup_rwsem_spin_ops;
extern const struct vma_lookup_ops lookup_rwsem_xadd_ops;
extern const struct vma_lookup_ops lookup_refcount_ops;
extern const struct vma_lookup_ops lookup_per_vma_ops;
extern const struct vma_lookup_ops lookup_rcu_ops;

/* Find and put with the space's lock, for all choices. */
void lookup_find_locked(struct fault *fault);
void lookup_put_locked(struct fault *fault);

#endif
