/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/space/: one call of mremap on its way.
 */
#ifndef MM_SPACE_REMAP_H
#define MM_SPACE_REMAP_H

#include "mm/space/internal.h"

struct remap {
	struct sf_space *space;
	uintptr_t address;
	uint64_t old_length, new_length; /* whole pages */
	int flags;                       /* SF_REMAP_* */
	uintptr_t new_address;           /* as wanted, then the place */
};

/*
 * Moves [address, address + old_length) of `vma`, which it lies in, to new_address, where nothing is mapped
 * and where it gets new_length; with an old_length of 0 maps the same object a second time. Returns 0, or
 * -ENOMEM with nothing changed. The space's lock is held for writing.
 */
int remap_move_vma(struct remap *remap, struct vma *vma);

#endif
