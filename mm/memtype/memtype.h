/* SPDX-License-Identifier: MIT */
/*
 * Memory types, as x86's page attribute table has them: how the processor caches a page. Two mappings of one
 * page must agree on its type, so a type is reserved before it is used, and every mapping looks it up.
 *
 * RAM keeps its type in the page's flags, in one of the three ways of policy.memtype. Ranges that are not RAM
 * are in an interval tree under memtype_tree_lock. A mapping pins its range: while a pin stands, nothing that
 * would change the type of a pinned page succeeds.
 *
 * Physical addresses are bytes below 2^52; ranges are whole pages.
 */
#ifndef MM_MEMTYPE_MEMTYPE_H
#define MM_MEMTYPE_MEMTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/memtype/interval.h"
#include "mm/page/frames.h"
#include "mm/policy/policy.h"

#define MEMTYPE_PHYSICAL_MAX (FRAMES_MAX << PORT_PAGE_SHIFT)

/* The values are those of the two bits in a page's flags. */
enum memtype {
	MEMTYPE_DEFAULT,  /* as a request: no wish; in a page's flags: not reserved. Never the type of a PTE.
			   */
	MEMTYPE_WC,       /* write-combining */
	MEMTYPE_UC_MINUS, /* uncached, unless the processor's range registers say write-combining */
	MEMTYPE_WB        /* write-back */
};

struct memtypes;

/*
 * Makes the memory types of `frames`, everything at its default. Returns NULL when there is no memory. Not
 * from the fault path. memtypes_destroy() frees them with every reservation left; NULL is allowed.
 */
struct memtypes *memtypes_create(struct frames *frames, enum policy_memtype policy);
void memtypes_destroy(struct memtypes *memtypes);

/*
 * Reserves [start, end) as `requested`. MEMTYPE_DEFAULT asks for what RAM has by default, write-back, and
 * elsewhere for the type of the reservations that already overlap the range, or uncached-minus if none does.
 * Writes what was granted to *granted; with -EBUSY, the type that stands in the way. Returns
 *   0        reserved. A page of RAM has at most one reservation; elsewhere reservations of one type may
 *            overlap and are counted.
 *   -EINVAL  empty, not whole pages, beyond 2^52, an unknown type, or part RAM and part not.
 *   -EBUSY   a page of RAM is reserved; elsewhere a reservation of another type overlaps; or a pinned page's
 *            type would change. Nothing has changed.
 *   -ENOMEM  no memory for a reservation that is not RAM. Nothing has changed.
 * Not from the fault path, not in an RCU read section. Locks of ranks MEMTYPE and MEMTYPE_TREE are taken.
 */
int memtype_reserve(struct memtypes *memtypes, uint64_t start, uint64_t end, enum memtype requested,
		    enum memtype *granted);

/*
 * Frees [start, end): of RAM any pages that are reserved, elsewhere exactly one reservation's range. Returns
 * 0; -EINVAL for a bad range as above, or one that is not reserved; -EBUSY when a pinned page's type would
 * change. Nothing has changed then. Callers as above.
 */
int memtype_free(struct memtypes *memtypes, uint64_t start, uint64_t end);

/*
 * Returns the type that a mapping of the page at `physical` must have: the reserved one, or the default,
 * which is write-back for RAM and uncached-minus elsewhere. Part of the fault path: for RAM it takes what the
 * policy says (memtype_lock, or nothing), elsewhere memtype_tree_lock. `physical` is below 2^52.
 */
enum memtype memtype_lookup(struct memtypes *memtypes, uint64_t physical);

/*
 * Pins [pin->start, pin->end), which are physical addresses, or takes such a pin away. Pins may overlap. From
 * memtype_pin()'s return to memtype_unpin(), every look-up of a pinned page gives the same type.
 */
void memtype_pin(struct memtypes *memtypes, struct interval *pin);
void memtype_unpin(struct memtypes *memtypes, struct interval *pin);

/*
 * Checks everything while nothing runs: the trees, that overlapping reservations agree, that there are `pins`
 * pins, that no claim was left behind, and that the pages of RAM with a type are as many as are reserved.
 * Returns 0, or -EINVAL with the first thing found wrong.
 */
int memtypes_check(struct memtypes *memtypes, uint64_t pins, struct message *why);

#endif
