/* SPDX-License-Identifier: MIT */
/*
 * Frames by number: an object whose pages are nobody's to count, a device's memory, or RAM that something
 * else owns. Its mappings are VMAs with VM_PFN; faults insert one PFN each (mm/fault/insert_pfn.h). Each VMA
 * has an object of its own for the frames that it maps, and while that lives it pins their memory types.
 */
#ifndef MM_OBJECT_PFN_H
#define MM_OBJECT_PFN_H

#include <stdint.h>

#include "base/compiler.h"
#include "mm/memtype/memtype.h"
#include "mm/object/object.h"
#include "port/rcu.h"

struct pfn_object {
	/* Read only. */
	struct object object;
	struct memtypes *memtypes;
	uint64_t first_pfn;    /* of index 0; those that follow are the other indices' */
	uint64_t index, pages; /* the part that is this one's */

	/* Not with the above on a line: the tree of pins is changed by everyone who maps. */
	CACHE_LINE_ALIGNED struct interval pin; /* by memtype_tree_lock */
	struct port_rcu_head rcu;               /* used once no VMA maps it */
};

/*
 * Makes an object of the `pages` frames from `pfn` on, at the indices from 0, and pins their memory types.
 * Returns it with one reference, or NULL when there is no memory. Not from the fault path.
 */
struct object *pfn_object_create(struct memtypes *memtypes, uint64_t pfn, uint64_t pages);

/* The object of a VMA with VM_PFN. */
static inline struct pfn_object *pfn_object_of(struct object *object)
{
	return container_of(object, struct pfn_object, object);
}

#endif
