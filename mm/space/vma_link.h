/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/space/: VMAs in the reverse map of the object that they map. VMAs of anonymous memory, and of
 * frames by number, are in none: for those the functions do nothing. The space's lock is held for writing, or
 * nobody else knows the space.
 */
#ifndef MM_SPACE_VMA_LINK_H
#define MM_SPACE_VMA_LINK_H

#include "mm/rmap/rmap.h"
#include "mm/space/vma.h"

/* Adds a VMA of `space` that is not linked; or with the object's mappings_lock held for writing. */
void vma_link(struct vma *vma, struct sf_space *space);
void vma_link_locked(struct vma *vma, struct sf_space *space, struct sf_object *object);

/* Takes it out, if it is linked. No entry of it is left that another linked VMA does not cover. */
void vma_unlink(struct vma *vma);

#endif
