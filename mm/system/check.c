/* SPDX-License-Identifier: MIT */
/*
 * What must hold of a whole system while no entry point runs.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/system/internal.h"
#include "sync/rcu.h"

/* A last-level entry must be what its mapping's fault handler would insert now. */
static int check_entry(void *argument, uintptr_t address, uint64_t pte, struct message *why)
{
	const struct sf_space *space = argument;
	struct pfn_mapping *mapping = mapping_set_find(rcu_dereference_locked(&space->mappings), address);
	uint64_t pfn = pte_pfn(pte), wanted;

	if (!mapping)
		return message_set(why, -EINVAL,
				   "address %#" PRIxPTR ": the entry %#" PRIx64 " lies in no mapping",
				   address, pte);
	if (mapping->fault == pfn_mapping_fault && pfn != pfn_mapping_pfn(mapping, address))
		return message_set(why, -EINVAL,
				   "address %#" PRIxPTR ": maps frame %" PRIu64 " instead of %" PRIu64,
				   address, pfn, pfn_mapping_pfn(mapping, address));
	wanted =
	    pte_make_pfn(pfn, mapping->writable, memtype_lookup(mapping->memtypes, pfn << PORT_PAGE_SHIFT));
	if (mapping->writable)
		wanted |= pte & PTE_DIRTY;
	if (pte != wanted)
		return message_set(why, -EINVAL,
				   "address %#" PRIxPTR ": the entry is %#" PRIx64 " instead of %#" PRIx64,
				   address, pte, wanted);
	return 0;
}

static int check_mappings(struct sf_space *space, struct message *why)
{
	struct mapping_set *set = rcu_dereference_locked(&space->mappings);
	uintptr_t last = 0;

	for (size_t i = 0; i < mapping_set_count(set); i++) {
		struct pfn_mapping *mapping = set->mapping[i];

		if (mapping->start < last || !range_valid(mapping->start, mapping->end - mapping->start))
			return message_set(why, -EINVAL,
					   "mapping [%#" PRIxPTR ", %#" PRIxPTR
					   "): overlaps the one before, or is none",
					   mapping->start, mapping->end);
		if (atomic_load(&mapping->removed))
			return message_set(why, -EINVAL,
					   "mapping [%#" PRIxPTR ", %#" PRIxPTR ") is there and removed",
					   mapping->start, mapping->end);
		last = mapping->end;
	}
	return 0;
}

int sf_system_check(struct sf_system *system, struct message *why)
{
	uint64_t frames_used = 0, mappings = 0;
	int error = 0;

	/* Frames of tables that wait for a grace period would be neither free nor used. */
	port_rcu_barrier();
	for (struct sf_space *space = system->spaces; space && !error; space = space->next_space) {
		mappings += mapping_set_count(rcu_dereference_locked(&space->mappings));
		error = check_mappings(space, why);
		if (!error)
			error = table_check(&space->table, check_entry, space, &frames_used, why);
	}
	if (!error)
		error = frames_check(system->frames, frames_used, why);
	if (!error)
		error = memtypes_check(system->memtypes, mappings, why);
	return error;
}
