/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/space/: when neighbours become one VMA, by the rules of Linux 6.18.
 */
#ifndef MM_SPACE_MERGE_H
#define MM_SPACE_MERGE_H

#include "mm/space/vma_cache.h"

/*
 * Joins `shape` with the shapes before and after it, where they touch it and fit. Each may be NULL. Returns
 * the whole; *with_previous and *with_next say what went into it.
 */
struct vma_shape vma_merge(const struct vma_shape *shape, const struct vma_shape *previous,
			   const struct vma_shape *next, bool *with_previous, bool *with_next);

/*
 * Whether `grown`, which has just been made longer at its end, becomes one with `next`. Memory that only
 * grows takes in a neighbour without an identity even where its own is inherited.
 */
bool vma_grows_into(const struct vma_shape *grown, const struct vma_shape *next);

#endif
