/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/space/: VMAs in the reverse map. One that maps an object which holds pages is in the object's
 * (mm/rmap/object_link.h); one with an anon that is displaced is in the anon's (mm/rmap/anon.h). For all
 * others the functions do nothing. The space's lock is held for writing, or nobody else knows the space.
 */
#ifndef MM_SPACE_VMA_LINK_H
#define MM_SPACE_VMA_LINK_H

#include "mm/space/space.h"

/* Adds a VMA of `space` wherever it is not linked yet. Sleeps. */
void vma_link(struct vma *vma, struct sf_space *space);

/* Adds one that is not linked to the object's map alone, with its mappings_lock held for writing. */
void vma_link_object_locked(struct vma *vma, struct sf_space *space, struct sf_object *object);

/* Adds one that has just got its anon to that one's map. The space's lock is held for reading or writing. */
void vma_link_anon(struct vma *vma, struct anon_vma *anon);

/* Takes it out where it is linked. No entry of it is left that another linked VMA does not cover. Sleeps. */
void vma_unlink(struct vma *vma);

#endif
