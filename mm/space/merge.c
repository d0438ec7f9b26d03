/* SPDX-License-Identifier: MIT */
/*
 * Two VMAs that touch merge when they map one object (or none) at adjoining offsets with the same flags, and
 * when their identities agree: equal, or one has none. Then the other gives its own, unless that was
 * inherited by fork; so the chain of spaces that a page can come from stays as short as it is.
 */
#include "mm/space/merge.h"

#include "port/page.h"

static uint64_t end_offset(const struct vma_shape *shape)
{
	return shape->page_offset + ((shape->end - shape->start) >> PORT_PAGE_SHIFT);
}

static bool anons_fit(const struct anon_vma *one, const struct anon_vma *other)
{
	if (one == other)
		return true;
	if (one && other)
		return false;
	return one ? !one->inherited : !other->inherited;
}

/* All but the identities. */
static bool continues(const struct vma_shape *low, const struct vma_shape *high)
{
	return low->end == high->start && low->flags == high->flags && !(low->flags & VM_PFN) &&
	       low->object == high->object && end_offset(low) == high->page_offset;
}

static bool fit(const struct vma_shape *low, const struct vma_shape *high)
{
	return continues(low, high) && anons_fit(low->anon, high->anon);
}

bool vma_grows_into(const struct vma_shape *grown, const struct vma_shape *next)
{
	return continues(grown, next) && (!next->anon || anons_fit(grown->anon, next->anon));
}

struct vma_shape vma_merge(const struct vma_shape *shape, const struct vma_shape *previous,
			   const struct vma_shape *next, bool *with_previous, bool *with_next)
{
	struct vma_shape whole = *shape;

	*with_previous = previous && fit(previous, shape);
	*with_next = next && fit(shape, next);
	/* Both fit what lies between them; they need not fit each other. Then the lower one gets it. */
	if (*with_previous && *with_next && previous->anon && next->anon && previous->anon != next->anon)
		*with_next = false;
	if (*with_previous) {
		whole.start = previous->start;
		whole.page_offset = previous->page_offset;
		if (previous->anon)
			whole.anon = previous->anon;
	}
	if (*with_next) {
		whole.end = next->end;
		if (next->anon)
			whole.anon = next->anon;
	}
	return whole;
}
