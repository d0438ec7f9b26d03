/* SPDX-License-Identifier: MIT */
/*
 * Spaces, and the changes of their mappings. A change prepares all that can fail, then publishes the new set
 * of mappings, then clears the page table of what is gone.
 */
#include <errno.h>

#include "mm/system/internal.h"
#include "port/memory.h"
#include "port/mmu.h"
#include "sync/rcu.h"

struct sf_space *sf_space_create(struct sf_system *system)
{
	struct sf_space *space;

	system_enter(system);
	port_rcu_poll();
	space = port_memory_alloc(sizeof(*space), PORT_NODE_FIRST_TOUCH, "struct sf_space");
	if (space && table_init(&space->table, system->frames)) {
		port_memory_free(space, sizeof(*space));
		space = NULL;
	}
	if (space) {
		space->system = system;
		rwsem_init(&space->lock, &rwsem_xadd_ops, LOCK_RANK_SPACE, &system->lock_nodes);
		spin_lock(&system->space_list_lock);
		space->next_space = system->spaces;
		space->link = &system->spaces;
		if (space->next_space)
			space->next_space->link = &space->next_space;
		system->spaces = space;
		spin_unlock(&system->space_list_lock);
	}
	system_exit(system);
	return space;
}

void sf_space_destroy(struct sf_space *space)
{
	struct sf_system *system = space->system;
	struct mapping_set *set = rcu_dereference_locked(&space->mappings);

	system_enter(system);
	port_rcu_poll();
	spin_lock(&system->space_list_lock);
	*space->link = space->next_space;
	if (space->next_space)
		space->next_space->link = space->link;
	spin_unlock(&system->space_list_lock);

	table_clear(&space->table, 0, TABLE_ADDRESS_END);
	table_destroy(&space->table);
	for (size_t i = 0; i < mapping_set_count(set); i++)
		pfn_mapping_destroy(set->mapping[i]);
	mapping_set_free(set);
	port_memory_free(space, sizeof(*space));
	system_exit(system);
}

/* All of it RAM that is exported, or none of it RAM. */
static bool pfns_valid(const struct frames *frames, uint64_t pfn, uint64_t count)
{
	if (count > FRAMES_MAX || pfn > FRAMES_MAX - count || pfn < frames->own)
		return false;
	return pfn >= frames->count || pfn + count <= frames->count;
}

static int map_locked(struct sf_space *space, struct pfn_mapping *mapping)
{
	struct mapping_set *old = rcu_dereference_locked(&space->mappings), *new;
	size_t at = mapping_set_search(old, mapping->start);
	int error;

	if (at < mapping_set_count(old) && old->mapping[at]->start < mapping->end)
		return -EEXIST;
	error = mapping_set_replace(old, at, 0, &mapping, 1, &new);
	if (error)
		return error;
	rcu_assign_pointer(&space->mappings, new);
	mapping_set_retire(old);
	return 0;
}

int sf_space_map_pfn(struct sf_space *space, uintptr_t address, size_t length, uint64_t pfn, bool writable)
{
	struct sf_system *system = space->system;
	struct pfn_mapping *mapping;
	int error;

	if (!range_valid(address, length) || !pfns_valid(system->frames, pfn, length >> PORT_PAGE_SHIFT))
		return -EINVAL;
	system_enter(system);
	port_rcu_poll();
	mapping =
	    pfn_mapping_create(system->memtypes, address, address + length, pfn, writable, pfn_mapping_fault);
	error = mapping ? 0 : -ENOMEM;
	if (mapping) {
		down_write(&space->lock);
		error = map_locked(space, mapping);
		up_write(&space->lock);
		if (error)
			pfn_mapping_destroy(mapping);
	}
	system_exit(system);
	return error;
}

/* Makes a mapping of the part [start, end) of `whole`, which stays when the rest goes. */
static struct pfn_mapping *cut(struct pfn_mapping *whole, uintptr_t start, uintptr_t end)
{
	return pfn_mapping_create(whole->memtypes, start, end, pfn_mapping_pfn(whole, start), whole->writable,
				  whole->fault);
}

/* Waits until no CPU has a translation of the range. */
static void flush(struct sf_space *space, uintptr_t start, uintptr_t end)
{
	uint64_t cpus[CPU_MASK_WORDS];
	unsigned words = (port_cpu_count() + 63) / 64;

	/* The cleared entries come before the look at who may have them; the other side is in touch.c. */
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; i < words; i++)
		cpus[i] = atomic_load_explicit(&space->touched_by[i], memory_order_relaxed);
	port_mmu_flush((uintptr_t)&space->table, start, end, cpus, words);
}

static int unmap_locked(struct sf_space *space, uintptr_t start, uintptr_t end)
{
	struct mapping_set *old = rcu_dereference_locked(&space->mappings), *new;
	size_t first = mapping_set_search(old, start), last = first, pieces = 0;
	struct pfn_mapping *piece[2], *low, *high;

	while (last < mapping_set_count(old) && old->mapping[last]->start < end)
		last++;
	if (first == last)
		return 0;
	low = old->mapping[first];
	high = old->mapping[last - 1];
	if (low->start < start) {
		piece[pieces] = cut(low, low->start, start);
		if (!piece[pieces])
			return -ENOMEM;
		pieces++;
	}
	if (high->end > end) {
		piece[pieces] = cut(high, end, high->end);
		if (!piece[pieces])
			goto no_memory;
		pieces++;
	}
	if (mapping_set_replace(old, first, last - first, piece, pieces, &new))
		goto no_memory;

	/*
	 * A fault that still finds an old mapping tries again from the top once it sees `removed`; what it
	 * inserts before that in a piece that stays is what the piece would have inserted.
	 */
	rcu_assign_pointer(&space->mappings, new);
	for (size_t i = first; i < last; i++)
		atomic_store_explicit(&old->mapping[i]->removed, true, memory_order_relaxed);
	table_clear(&space->table, start, end);
	flush(space, start, end);
	for (size_t i = first; i < last; i++)
		pfn_mapping_retire(old->mapping[i]);
	mapping_set_retire(old);
	return 0;
no_memory:
	while (pieces)
		pfn_mapping_destroy(piece[--pieces]);
	return -ENOMEM;
}

int sf_space_unmap(struct sf_space *space, uintptr_t address, size_t length)
{
	struct sf_system *system = space->system;
	int error;

	if (!range_valid(address, length))
		return -EINVAL;
	system_enter(system);
	port_rcu_poll();
	down_write(&space->lock);
	error = unmap_locked(space, address, address + length);
	up_write(&space->lock);
	system_exit(system);
	return error;
}
