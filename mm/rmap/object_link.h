/* SPDX-License-Identifier: MIT */
/*
 * Which spaces map an object that holds pages, and where. A link says what of its VMA a walk needs.
 *
 * Who makes a VMA visible to faults adds its link before, and who takes one away removes it after its last
 * entry is gone: so a walk that holds the lock meets every entry that is there when it begins, and those that
 * come later were made by faults that look at their page again. Entries move from one VMA to another only
 * while the lock is held for writing.
 *
 *                 add, remove   walk
 *   add, remove   no            no      mappings_lock for writing
 *   walk          no            yes     mappings_lock, for reading
 */
#ifndef MM_RMAP_OBJECT_LINK_H
#define MM_RMAP_OBJECT_LINK_H

#include "mm/object/cache.h"
#include "mm/rmap/space.h"

/* By mappings_lock, or nobody else sees it yet. */
struct object_link {
	struct interval pages; /* of the object, that are mapped */
	struct rmap_space *space;
	uintptr_t start; /* where the first one is */
	bool shared;     /* writes go to the object's pages */
};

/* Adds a link that is filled in. mappings_lock is held for writing. */
void object_link_add_locked(struct sf_object *object, struct object_link *link);

/* Removes one, taking the lock: with a space's lock held at most. */
void object_link_remove(struct sf_object *object, struct object_link *link);

/* Where the page `index`, or the border before it, is in the link's space. */
static inline uintptr_t object_link_address(const struct object_link *link, uint64_t index)
{
	return link->start + ((index - link->pages.start) << PORT_PAGE_SHIFT);
}

/*
 * Calls `visit` for each link that has pages of [first, end), with the lock held for reading, until it
 * returns false. Sleeps.
 */
void object_link_walk(struct sf_object *object, uint64_t first, uint64_t end,
		      bool (*visit)(struct object_link *link, void *argument), void *argument);

#endif
