/* SPDX-License-Identifier: MIT */
/*
 * Checks ranges and sends them to where their types are kept.
 */
#include "mm/memtype/memtype.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/memtype/internal.h"
#include "port/memory.h"
#include "port/panic.h"

/* A new policy of memory types is one row here. */
static const struct memtype_ram_ops *const ops_of_policy[] = {
    [POLICY_MEMTYPE_CMPXCHG] = &memtype_cmpxchg_ops,
    [POLICY_MEMTYPE_SPIN] = &memtype_spin_ops,
    [POLICY_MEMTYPE_RWLOCK] = &memtype_rwlock_ops,
};

struct memtypes *memtypes_create(struct frames *frames, enum policy_memtype policy)
{
	struct memtypes *memtypes =
	    port_memory_alloc(sizeof(*memtypes), PORT_NODE_FIRST_TOUCH, "struct memtypes");

	if (!memtypes)
		return NULL;
	memtypes->ram_ops = ops_of_policy[policy];
	memtypes->frames = frames;
	memtypes->ram_frames = frames->count;
	spin_lock_init(&memtypes->memtype_lock, LOCK_RANK_MEMTYPE);
	rwlock_init(&memtypes->memtype_rwlock, LOCK_RANK_MEMTYPE);
	spin_lock_init(&memtypes->memtype_tree_lock, LOCK_RANK_MEMTYPE_TREE);
	atomic_init(&memtypes->ram_reserved, 0);
	atomic_init(&memtypes->ram_first, UINT64_MAX);
	atomic_init(&memtypes->ram_end, 0);
	return memtypes;
}

void memtypes_destroy(struct memtypes *memtypes)
{
	if (!memtypes)
		return;
	invariant(!memtypes->pinned.root);
	memtype_range_free_all(memtypes);
	port_memory_free(memtypes, sizeof(*memtypes));
}

/* Returns 1 for RAM, 0 for what is not, -EINVAL for a bad range or one of both. */
static int range_is_ram(const struct memtypes *memtypes, uint64_t start, uint64_t end)
{
	uint64_t ram_end = memtypes->ram_frames << PORT_PAGE_SHIFT;

	if (start >= end || end > MEMTYPE_PHYSICAL_MAX || (start | end) % PORT_PAGE_SIZE)
		return -EINVAL;
	if (end <= ram_end)
		return 1;
	return start >= ram_end ? 0 : -EINVAL;
}

/* Notes that pages of [first, end) have had a type. */
static void note_bounds(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	uint64_t seen = atomic_load_explicit(&memtypes->ram_first, memory_order_relaxed);

	while (first < seen &&
	       !atomic_compare_exchange_weak_explicit(&memtypes->ram_first, &seen, first,
						      memory_order_relaxed, memory_order_relaxed))
		;
	seen = atomic_load_explicit(&memtypes->ram_end, memory_order_relaxed);
	while (end > seen && !atomic_compare_exchange_weak_explicit(
				 &memtypes->ram_end, &seen, end, memory_order_relaxed, memory_order_relaxed))
		;
}

int memtype_reserve(struct memtypes *memtypes, uint64_t start, uint64_t end, enum memtype requested,
		    enum memtype *granted)
{
	int ram = range_is_ram(memtypes, start, end);
	uint64_t first = start >> PORT_PAGE_SHIFT, last = end >> PORT_PAGE_SHIFT;
	enum memtype type = requested == MEMTYPE_DEFAULT ? MEMTYPE_WB : requested;
	int error;

	*granted = MEMTYPE_DEFAULT;
	if (ram < 0 || (unsigned)requested > MEMTYPE_WB)
		return -EINVAL;
	if (!ram)
		return memtype_range_reserve(memtypes, start, end, requested, granted);
	error = memtypes->ram_ops->reserve(memtypes, first, last, type, granted);
	if (error)
		return error;
	*granted = type;
	atomic_fetch_add_explicit(&memtypes->ram_reserved, last - first, memory_order_relaxed);
	note_bounds(memtypes, first, last);
	return 0;
}

int memtype_free(struct memtypes *memtypes, uint64_t start, uint64_t end)
{
	int ram = range_is_ram(memtypes, start, end);
	uint64_t first = start >> PORT_PAGE_SHIFT, last = end >> PORT_PAGE_SHIFT;
	int error;

	if (ram < 0)
		return -EINVAL;
	if (!ram)
		return memtype_range_free(memtypes, start, end);
	error = memtypes->ram_ops->free(memtypes, first, last);
	if (!error)
		atomic_fetch_sub_explicit(&memtypes->ram_reserved, last - first, memory_order_relaxed);
	return error;
}

enum memtype memtype_lookup(struct memtypes *memtypes, uint64_t physical)
{
	uint64_t pfn = physical >> PORT_PAGE_SHIFT;
	enum memtype type;

	if (pfn >= memtypes->ram_frames)
		return memtype_range_lookup(memtypes, physical);
	type = memtypes->ram_ops->lookup(memtypes, pfn_to_page(memtypes->frames, pfn));
	return type == MEMTYPE_DEFAULT ? MEMTYPE_WB : type;
}

void memtype_pin(struct memtypes *memtypes, struct interval *pin)
{
	spin_lock(&memtypes->memtype_tree_lock);
	interval_insert(&memtypes->pinned, pin);
	spin_unlock(&memtypes->memtype_tree_lock);
}

void memtype_unpin(struct memtypes *memtypes, struct interval *pin)
{
	spin_lock(&memtypes->memtype_tree_lock);
	interval_remove(&memtypes->pinned, pin);
	spin_unlock(&memtypes->memtype_tree_lock);
}

bool memtype_pinned(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	bool pinned;

	spin_lock(&memtypes->memtype_tree_lock);
	pinned = interval_first(&memtypes->pinned, first << PORT_PAGE_SHIFT, end << PORT_PAGE_SHIFT);
	spin_unlock(&memtypes->memtype_tree_lock);
	return pinned;
}

/* A page of RAM without a type counts as write-back, so only other types change when they go. */
bool memtype_pinned_against_free(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	if (!memtype_pinned(memtypes, first, end))
		return false;
	for (uint64_t pfn = first; pfn < end; pfn++) {
		struct page *page = pfn_to_page(memtypes->frames, pfn);
		uint32_t flags = atomic_load_explicit(&page->flags, memory_order_relaxed);

		if (memtype_of_flags(flags) != MEMTYPE_WB && memtype_pinned(memtypes, pfn, pfn + 1))
			return true;
	}
	return false;
}

int memtypes_check(struct memtypes *memtypes, uint64_t pins, struct message *why)
{
	uint64_t reserved = atomic_load(&memtypes->ram_reserved), typed = 0;

	for (uint64_t pfn = atomic_load(&memtypes->ram_first); pfn < atomic_load(&memtypes->ram_end); pfn++) {
		uint32_t flags = atomic_load(&pfn_to_page(memtypes->frames, pfn)->flags);

		if (flags & PG_memtype_claimed)
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": its memory type is still claimed", pfn);
		if (flags & PG_MEMTYPE_MASK)
			typed++;
	}
	if (typed != reserved)
		return message_set(why, -EINVAL,
				   "%" PRIu64 " frames have a memory type, %" PRIu64 " are reserved", typed,
				   reserved);
	return memtype_range_check(memtypes, pins, why);
}
