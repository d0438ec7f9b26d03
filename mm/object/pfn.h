/* SPDX-License-Identifier: MIT */
/*
 * PFN mappings: a range of addresses whose frames are named by number and are nobody's to count: a device's
 * memory, or RAM that something else owns. A fault calls the mapping's handler, which inserts one PFN.
 */
#ifndef MM_OBJECT_PFN_H
#define MM_OBJECT_PFN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/memtype/memtype.h"
#include "mm/table/table.h"
#include "port/rcu.h"

struct pfn_mapping;

/*
 * Inserts the PFN for `address` (a page of the mapping), inside the RCU read section in which the mapping was
 * found. Returns 0 when the touch is to be tried again, -EAGAIN when the mapping is to be looked for again,
 * or another negative errno, which the touch then returns.
 */
typedef int pfn_fault(struct pfn_mapping *mapping, struct table *table, uintptr_t address);

struct pfn_mapping {
	/* Read only while the mapping can be found. */
	uintptr_t start, end; /* whole pages */
	uint64_t first_pfn;   /* of `start`; those that follow are the rest's */
	bool writable;
	struct memtypes *memtypes;
	pfn_fault *fault;
	/*
	 * Set when the mapping is taken away, before its entries are cleared. Written by the space's lock's
	 * holder; what insert_pfn() sees of it is ordered as table.h says of table_clear().
	 */
	_Atomic bool removed;

	/* Not with the above on a line: the tree of pins is changed by everyone who maps. */
	CACHE_LINE_ALIGNED struct interval pin; /* by memtype_tree_lock */
	struct port_rcu_head rcu;               /* used once the mapping cannot be found any more */
};

/*
 * Makes a mapping of [start, end) to the frames from `first_pfn`, and pins their memory types. It is the
 * caller's until it shows it to others. Returns NULL when there is no memory. Not from the fault path.
 */
struct pfn_mapping *pfn_mapping_create(struct memtypes *memtypes, uintptr_t start, uintptr_t end,
				       uint64_t first_pfn, bool writable, pfn_fault *fault);

/* Unpins and frees a mapping: at once, if nobody else has seen it; or after a grace period. */
void pfn_mapping_destroy(struct pfn_mapping *mapping);
void pfn_mapping_retire(struct pfn_mapping *mapping);

/*
 * The handler of a mapping whose frames lie in a row: inserts the one for `address`. Finding that another CPU
 * has just done so is success.
 */
pfn_fault pfn_mapping_fault;

/*
 * Makes the page at `address` of `mapping` map frame `pfn`, with the frame's memory type. Inside the RCU read
 * section in which the mapping was found. Returns
 *   0        inserted.
 *   -EFAULT  the address lies outside the mapping.
 *   -EINVAL  the address is not that of a page, or the frame is not one of the mapping's.
 *   -ENOMEM  no frame for a page table.
 *   -EAGAIN  the mapping has been taken away meanwhile.
 *   -EBUSY   the page maps a frame already.
 * Takes what memtype_lookup() takes, then a lock of rank PAGE_TABLE; not both at once.
 */
int insert_pfn(struct pfn_mapping *mapping, struct table *table, uintptr_t address, uint64_t pfn);

/* How many pages the mapping has. */
static inline uint64_t pfn_mapping_pages(const struct pfn_mapping *mapping)
{
	return (mapping->end - mapping->start) >> PORT_PAGE_SHIFT;
}

/* The frame that stands behind `address`, which is in the mapping, when its frames lie in a row. */
static inline uint64_t pfn_mapping_pfn(const struct pfn_mapping *mapping, uintptr_t address)
{
	return mapping->first_pfn + ((address - mapping->start) >> PORT_PAGE_SHIFT);
}

#endif
