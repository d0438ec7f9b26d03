/* SPDX-License-Identifier: MIT */
/*
 * The entry points for swap.
 */
#include "mm/swap/swap.h"

#include <errno.h>

#include "mm/object/cache.h"
#include "mm/object/index_entry.h"
#include "mm/swap/swap_memory.h"
#include "mm/system/internal.h"
#include "port/page.h"

int system_add_swap(struct sf_system *system, struct sf_backing *backing, int priority, bool discard)
{
	const struct swap_area_config config = {.backing = backing, .priority = priority, .discard = discard};
	struct message why;
	int error;

	system_enter(system);
	port_rcu_poll();
	down_write(&system->swap_areas_lock);
	error = swap_add_area(system->swap, &config, &why);
	up_write(&system->swap_areas_lock);
	system_exit(system);
	return error;
}

int sf_swap_add(struct sf_system *system, struct sf_backing *backing, int priority)
{
	return system->structure_only ? -EINVAL : system_add_swap(system, backing, priority, false);
}

int sf_swap_add_memory(struct sf_system *system, uint64_t bytes, int priority)
{
	struct sf_backing *backing;
	int error;

	if (bytes < PORT_PAGE_SIZE || bytes >> PORT_PAGE_SHIFT > UINT64_C(1) << SWAP_SLOT_BITS)
		return -EINVAL;
	backing = swap_memory_create(bytes >> PORT_PAGE_SHIFT, system->structure_only);
	if (!backing)
		return -ENOMEM;
	error = system_add_swap(system, backing, priority, false);
	if (error)
		backing->ops->release(backing);
	return error;
}

void sf_swap_statistics(struct sf_system *system, struct sf_swap_statistics *statistics)
{
	struct swap_statistics sums;

	system_enter(system);
	port_rcu_poll();
	swap_statistics(system->swap, &sums);
	system_exit(system);
	*statistics = (struct sf_swap_statistics){
	    .slots = sums.slots,
	    .used = sums.used,
	    .bad = sums.bad,
	    .cached = sums.cached,
	    .read = sums.read,
	    .ahead = sums.ahead,
	    .written = sums.written,
	    .reads = sums.reads,
	    .writes = sums.writes,
	};
}

bool system_in_swap(struct sf_space *space, uint64_t address)
{
	bool out = pte_is_swap(system_pte(space, address));
	struct vma_view vma;

	if (out || !space_view(space, address, &vma) || !vma.object)
		return out;
	if (address >= vma.start) {
		uint64_t index = vma.page_offset + ((address - vma.start) >> PORT_PAGE_SHIFT);

		port_rcu_read_lock();
		out = index_entry_is_swap(page_index_load(&vma.object->index, index));
		port_rcu_read_unlock();
	}
	object_put(&vma.object->object);
	return out;
}
