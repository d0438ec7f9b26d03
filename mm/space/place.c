/* SPDX-License-Identifier: MIT */
/*
 * Where a new mapping goes: as near below the space's base as there is room, and when there is none, as low
 * as possible above a third of the space, which reaches what lies above the base.
 */
#include <errno.h>

#include "mm/space/internal.h"

#define HUGE_BYTES ((uint64_t)2 << 20)

/* Where the search from below begins. */
#define PLACE_LOW ((SPACE_END / 3 + PORT_PAGE_SIZE - 1) & ~(uintptr_t)(PORT_PAGE_SIZE - 1))

static bool is_free(const struct sf_space *space, uintptr_t start, uint64_t length)
{
	struct vma *vma = vma_tree_next(&space->tree, start);

	return !vma || start + length <= vma->start;
}

/* Returns the place, or UINTPTR_MAX. */
static uintptr_t search(const struct sf_space *space, uintptr_t hint, uint64_t length)
{
	uintptr_t place;

	if (length > SPACE_END)
		return UINTPTR_MAX;
	if (hint && hint <= SPACE_END - length && is_free(space, hint, length))
		return hint;
	place = vma_tree_gap_topdown(&space->tree, space->parts.map_min, space->parts.map_base, length);
	if (place == UINTPTR_MAX)
		place = vma_tree_gap_bottomup(&space->tree, PLACE_LOW, SPACE_END, length);
	return place;
}

/* A place that is aligned to 2 MiB, or UINTPTR_MAX. */
static uintptr_t search_huge(const struct sf_space *space, uint64_t length)
{
	uintptr_t place;

	if (length % HUGE_BYTES || length + HUGE_BYTES < length)
		return UINTPTR_MAX;
	place = search(space, 0, length + HUGE_BYTES);
	if (place == UINTPTR_MAX)
		return place;
	/* The higher of two aligned places, if there are two. */
	return place % HUGE_BYTES ? place + (HUGE_BYTES - place % HUGE_BYTES) : place + HUGE_BYTES;
}

int space_place_locked(struct sf_space *space, uintptr_t wanted, uint64_t length, bool fixed, bool private,
		       uintptr_t *place)
{
	uintptr_t found = wanted;

	if (length > SPACE_END)
		return -ENOMEM;
	if (!fixed) {
		wanted &= ~(uintptr_t)(PORT_PAGE_SIZE - 1);
		found = private && !wanted ? search_huge(space, length) : UINTPTR_MAX;
		if (found == UINTPTR_MAX)
			found = search(space, wanted, length);
		if (found == UINTPTR_MAX)
			return -ENOMEM;
	}
	if (found > SPACE_END - length)
		return -ENOMEM;
	if (!page_aligned(found))
		return -EINVAL;
	if (found < space->parts.map_min)
		return -EPERM;
	*place = found;
	return 0;
}
