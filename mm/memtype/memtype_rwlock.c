/* SPDX-License-Identifier: MIT */
/*
 * Policy memtype=rwlock: the lock of memtype_spin.c as a reader/writer lock. Look-ups run side by side, yet
 * each still writes the lock's cache line twice.
 */
#include "mm/memtype/internal.h"

static int rwlock_reserve(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
			  enum memtype *in_the_way)
{
	int error;

	write_lock(&memtypes->memtype_rwlock);
	error = memtype_two_pass_reserve_locked(memtypes, first, end, type, in_the_way);
	write_unlock(&memtypes->memtype_rwlock);
	return error;
}

static int rwlock_free(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	int error;

	write_lock(&memtypes->memtype_rwlock);
	error = memtype_two_pass_free_locked(memtypes, first, end);
	write_unlock(&memtypes->memtype_rwlock);
	return error;
}

static enum memtype rwlock_lookup(struct memtypes *memtypes, struct page *page)
{
	enum memtype type;

	read_lock(&memtypes->memtype_rwlock);
	type = memtype_of_flags(atomic_load_explicit(&page->flags, memory_order_relaxed));
	read_unlock(&memtypes->memtype_rwlock);
	return type;
}

const struct memtype_ram_ops memtype_rwlock_ops = {
    .reserve = rwlock_reserve,
    .free = rwlock_free,
    .lookup = rwlock_lookup,
};
