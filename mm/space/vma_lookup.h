/* SPDX-License-Identifier: MIT */
/*
 * What the policy field `vma_lookup` chooses: how a fault keeps hold of the VMA that it works for, and so
 * what a writer must do about faults that are at work for a VMA which is no longer to be used. The choices
 * stand in mm/fault/, one file each.
 */
#ifndef MM_SPACE_VMA_LOOKUP_H
#define MM_SPACE_VMA_LOOKUP_H

#include <stdint.h>

#include "mm/space/vma.h"
#include "sync/rwsem.h"

struct fault; /* mm/fault/fault.h */

struct vma_lookup_ops {
	/* The implementation of the space's lock. */
	const struct rwsem_ops *lock;

	/* What vma->users holds while nobody uses the VMA. */
	uint32_t users_idle;

	/*
	 * Called by the writer, with the space's lock held for writing, once for each VMA that it takes away,
	 * outside every RCU read section: sets vma->detached and returns when no fault is at work for the VMA
	 * that would not see that.
	 */
	void (*detach)(struct vma *vma);

	/*
	 * Takes that back, when a move finds no memory: the VMA is as it was before detach(). Called by the
	 * same writer; the VMA has been in the tree all the time.
	 */
	void (*reattach)(struct vma *vma);

	/* For faults alone: mm/fault/lookup.h. */
	void (*find)(struct fault *fault);
	void (*put)(struct fault *fault);
};

/* By enum policy_vma_lookup. */
extern const struct vma_lookup_ops *const vma_lookup_choices[];

#endif
