/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/space/: what its operations share. Everything that ends in _locked is called with the space's
 * lock held for writing.
 */
#ifndef MM_SPACE_INTERNAL_H
#define MM_SPACE_INTERNAL_H

#include "mm/space/edit.h"
#include "mm/space/merge.h"
#include "mm/space/space.h"
#include "port/page.h"
#include "port/panic.h"
#include "softfault.h"

/* Rounds up to whole pages; wraps around to 0. */
static inline uint64_t page_align(uint64_t bytes)
{
	return (bytes + PORT_PAGE_SIZE - 1) & ~(uint64_t)(PORT_PAGE_SIZE - 1);
}

static inline bool page_aligned(uint64_t bytes)
{
	return bytes % PORT_PAGE_SIZE == 0;
}

/* RLIMIT_AS and RLIMIT_MEMLOCK: whether `pages` more are allowed. */
static inline bool may_expand(const struct sf_space *space, uint64_t pages)
{
	return pages <= space->limit_pages && space->total_pages <= space->limit_pages - pages;
}

static inline bool may_lock(const struct sf_space *space, uint64_t pages)
{
	uint64_t limit = space->limit_locked >> PORT_PAGE_SHIFT;

	return pages <= limit && space->locked_pages <= limit - pages;
}

/*
 * Finds the place of a new mapping, as get_unmapped_area does. `length` is whole pages, not 0. `wanted` is
 * the place with `fixed`, else a hint, 0 for none. Private memory of whole 2 MiB that has no hint is aligned
 * to them. Returns 0 with it in *place; -EINVAL, -ENOMEM, or -EPERM for one below the lowest allowed.
 */
int space_place_locked(struct sf_space *space, uintptr_t wanted, uint64_t length, bool fixed, bool private,
		       uintptr_t *place);

/*
 * Gives the part [start, end) of `vma` other flags, splitting and merging as needed. *after becomes the end
 * of the VMA that the part is in then. Returns 0, or -ENOMEM; with the limit on the number of VMAs one of two
 * splits may have been made. Page table entries are the caller's.
 */
int space_modify_locked(struct sf_space *space, struct vma *vma, uintptr_t start, uintptr_t end,
			uint32_t flags, uintptr_t *after);

/* munmap of a checked range of whole pages. Returns 0, or -ENOMEM with nothing changed. */
int space_unmap_locked(struct sf_space *space, uintptr_t start, uintptr_t end);

/* struct rmap_space's may_unmap(). */
int space_may_unmap(struct rmap_space *rmap, uintptr_t address);

/* The shapes of the VMAs that touch [start, end) from below and from above, as they will be when nothing is
 * mapped inside any more: the parts outside of what crosses its ends. */
struct space_around {
	struct vma_shape previous, next;
	bool has_previous, has_next; /* they touch */
	bool cut_low, cut_high;      /* they are parts */
};
void space_look_around(const struct sf_space *space, uintptr_t start, uintptr_t end,
		       struct space_around *around);

#endif
