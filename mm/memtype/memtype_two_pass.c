/* SPDX-License-Identifier: MIT */
/*
 * Reservation under a lock: the first pass looks for conflicts, the second sets the types. Only memtype_lock,
 * which the callers in memtype_spin.c and memtype_rwlock.c hold over both passes and over every look-up,
 * makes that safe.
 *
 * A pin that arrives between the check and the second pass does no harm: its mapping's look-ups wait for the
 * lock, and find the new type.
 */
#include "mm/memtype/internal.h"

#include <errno.h>

/* The other bits of the word are not ours, hence the compare-and-swap. */
static void set_type(struct page *page, enum memtype type)
{
	uint32_t old = atomic_load_explicit(&page->flags, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&page->flags, &old,
						      (old & ~PG_MEMTYPE_MASK) | memtype_to_flags(type),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static enum memtype get_type(const struct page *page)
{
	return memtype_of_flags(atomic_load_explicit(&page->flags, memory_order_relaxed));
}

int memtype_look_reserve(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
			 enum memtype *in_the_way)
{
	for (uint64_t pfn = first; pfn < end; pfn++) {
		*in_the_way = get_type(pfn_to_page(memtypes->frames, pfn));
		if (*in_the_way != MEMTYPE_DEFAULT)
			return -EBUSY;
	}
	*in_the_way = MEMTYPE_WB;
	return type != MEMTYPE_WB && memtype_pinned(memtypes, first, end) ? -EBUSY : 0;
}

int memtype_look_free(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	for (uint64_t pfn = first; pfn < end; pfn++)
		if (get_type(pfn_to_page(memtypes->frames, pfn)) == MEMTYPE_DEFAULT)
			return -EINVAL;
	return memtype_pinned_against_free(memtypes, first, end) ? -EBUSY : 0;
}

int memtype_two_pass_reserve_locked(struct memtypes *memtypes, uint64_t first, uint64_t end,
				    enum memtype type, enum memtype *in_the_way)
{
	int error = memtype_look_reserve(memtypes, first, end, type, in_the_way);

	for (uint64_t pfn = first; pfn < end && !error; pfn++)
		set_type(pfn_to_page(memtypes->frames, pfn), type);
	return error;
}

int memtype_two_pass_free_locked(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	int error = memtype_look_free(memtypes, first, end);

	for (uint64_t pfn = first; pfn < end && !error; pfn++)
		set_type(pfn_to_page(memtypes->frames, pfn), MEMTYPE_DEFAULT);
	return error;
}
