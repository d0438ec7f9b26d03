/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/memtype/.
 */
#ifndef MM_MEMTYPE_INTERNAL_H
#define MM_MEMTYPE_INTERNAL_H

#include "base/compiler.h"
#include "mm/memtype/memtype.h"
#include "sync/rwlock.h"
#include "sync/spinlock.h"

/*
 * How a policy keeps the types of RAM. Ranges are frame numbers [first, end), not empty, all RAM.
 *   reserve  `type` is not the default. 0, or -EBUSY with *in_the_way.
 *   free     0, -EINVAL when a page is not reserved, -EBUSY when a pinned page's type would change.
 *   lookup   the type in the page's flags, MEMTYPE_DEFAULT included.
 */
struct memtype_ram_ops {
	int (*reserve)(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
		       enum memtype *in_the_way);
	int (*free)(struct memtypes *memtypes, uint64_t first, uint64_t end);
	enum memtype (*lookup)(struct memtypes *memtypes, struct page *page);
};

extern const struct memtype_ram_ops memtype_spin_ops, memtype_rwlock_ops, memtype_cmpxchg_ops;

/* Each lock has a cache line of its own: the first line is read by every fault. */
struct memtypes {
	/* Read only after memtypes_create(). */
	CACHE_LINE_ALIGNED const struct memtype_ram_ops *ram_ops;
	struct frames *frames;
	uint64_t ram_frames;

	/* Policy spin: serialises reservations, frees and look-ups of RAM. */
	CACHE_LINE_ALIGNED struct spinlock memtype_lock;
	/* Policy rwlock: the same, look-ups for reading. */
	CACHE_LINE_ALIGNED struct rwlock memtype_rwlock;

	CACHE_LINE_ALIGNED struct spinlock memtype_tree_lock;
	struct interval_tree reserved; /* of struct reservation; protected by memtype_tree_lock */
	struct interval_tree pinned;   /* protected by memtype_tree_lock */

	/*
	 * For memtypes_check(): how many pages of RAM have a type, and bounds of where. Atomic; written once
	 * a reservation or free, never by a look-up.
	 */
	CACHE_LINE_ALIGNED _Atomic uint64_t ram_reserved;
	_Atomic uint64_t ram_first, ram_end;
};

/* The type in the page's flags. */
static inline enum memtype memtype_of_flags(uint32_t flags)
{
	return (enum memtype)((flags & PG_MEMTYPE_MASK) >> PG_MEMTYPE_SHIFT);
}

static inline uint32_t memtype_to_flags(enum memtype type)
{
	return (uint32_t)type << PG_MEMTYPE_SHIFT;
}

/* Returns whether a pin covers any of the frames [first, end). Takes memtype_tree_lock. */
bool memtype_pinned(struct memtypes *memtypes, uint64_t first, uint64_t end);

/*
 * Returns whether taking the types of [first, end) away would change what a look-up of a pinned page gives.
 * The caller keeps the types from changing.
 */
bool memtype_pinned_against_free(struct memtypes *memtypes, uint64_t first, uint64_t end);

/*
 * memtype_two_pass.c: looking at all pages for what would refuse a reservation or a free. What is found was
 * so at some moment during the call; that it still is takes a lock, or a claim.
 */
int memtype_look_reserve(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
			 enum memtype *in_the_way);
int memtype_look_free(struct memtypes *memtypes, uint64_t first, uint64_t end);

/* Look, then change all pages. The caller holds what makes that one step. */
int memtype_two_pass_reserve_locked(struct memtypes *memtypes, uint64_t first, uint64_t end,
				    enum memtype type, enum memtype *in_the_way);
int memtype_two_pass_free_locked(struct memtypes *memtypes, uint64_t first, uint64_t end);

/* memtype_range.c: what is not RAM. Addresses in bytes, checked. */
int memtype_range_reserve(struct memtypes *memtypes, uint64_t start, uint64_t end, enum memtype requested,
			  enum memtype *granted);
int memtype_range_free(struct memtypes *memtypes, uint64_t start, uint64_t end);
enum memtype memtype_range_lookup(struct memtypes *memtypes, uint64_t physical);
int memtype_range_check(struct memtypes *memtypes, uint64_t pins, struct message *why);
void memtype_range_free_all(struct memtypes *memtypes);

#endif
