/* SPDX-License-Identifier: MIT */
/*
 * Policy memtype=spin: one ticket spinlock for the whole system. The two bits of a type are read and set
 * under it, so every fault of a PFN mapping takes it: what Linux 2.6.34 did, and the experiment's "before".
 */
#include "mm/memtype/internal.h"

static int spin_reserve(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
			enum memtype *in_the_way)
{
	int error;

	spin_lock(&memtypes->memtype_lock);
	error = memtype_two_pass_reserve_locked(memtypes, first, end, type, in_the_way);
	spin_unlock(&memtypes->memtype_lock);
	return error;
}

static int spin_free(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	int error;

	spin_lock(&memtypes->memtype_lock);
	error = memtype_two_pass_free_locked(memtypes, first, end);
	spin_unlock(&memtypes->memtype_lock);
	return error;
}

static enum memtype spin_lookup(struct memtypes *memtypes, struct page *page)
{
	enum memtype type;

	spin_lock(&memtypes->memtype_lock);
	type = memtype_of_flags(atomic_load_explicit(&page->flags, memory_order_relaxed));
	spin_unlock(&memtypes->memtype_lock);
	return type;
}

const struct memtype_ram_ops memtype_spin_ops = {
    .reserve = spin_reserve,
    .free = spin_free,
    .lookup = spin_lookup,
};
