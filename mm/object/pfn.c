/* SPDX-License-Identifier: MIT */
/*
 * Why no PTE appears after an unmap has returned. The unmap sets `removed`, then has table_clear() visit
 * every entry of the range. insert_pfn() reads `removed` while it holds the entry's lock. Either it had the
 * lock before table_clear() took it: then table_clear() finds the entry and empties it. Or it gets the lock
 * later, or locks a table that did not exist when table_clear() came by: then, by the order that table.h
 * states, it sees `removed` set, and installs nothing.
 *
 * The type is looked up before the entry is locked. It cannot change in between: the mapping's pin stands
 * from before the mapping could be found until after its entries are cleared. An insertion that is slow
 * enough to see the pin go finds `removed` set.
 */
#include "mm/object/pfn.h"

#include <errno.h>

#include "port/memory.h"

struct pfn_mapping *pfn_mapping_create(struct memtypes *memtypes, uintptr_t start, uintptr_t end,
				       uint64_t first_pfn, bool writable, pfn_fault *fault)
{
	struct pfn_mapping *mapping =
	    port_memory_alloc(sizeof(*mapping), PORT_NODE_FIRST_TOUCH, "struct pfn_mapping");

	if (!mapping)
		return NULL;
	mapping->start = start;
	mapping->end = end;
	mapping->first_pfn = first_pfn;
	mapping->writable = writable;
	mapping->memtypes = memtypes;
	mapping->fault = fault;
	atomic_init(&mapping->removed, false);
	mapping->pin.start = first_pfn << PORT_PAGE_SHIFT;
	mapping->pin.end = (first_pfn + pfn_mapping_pages(mapping)) << PORT_PAGE_SHIFT;
	memtype_pin(memtypes, &mapping->pin);
	return mapping;
}

void pfn_mapping_destroy(struct pfn_mapping *mapping)
{
	memtype_unpin(mapping->memtypes, &mapping->pin);
	port_memory_free(mapping, sizeof(*mapping));
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	struct pfn_mapping *mapping = container_of(head, struct pfn_mapping, rcu);

	port_memory_free(mapping, sizeof(*mapping));
}

void pfn_mapping_retire(struct pfn_mapping *mapping)
{
	memtype_unpin(mapping->memtypes, &mapping->pin);
	port_rcu_call(&mapping->rcu, free_after_grace_period);
}

int insert_pfn(struct pfn_mapping *mapping, struct table *table, uintptr_t address, uint64_t pfn)
{
	struct pte_ref ref;
	enum memtype type;
	int error;

	if (address < mapping->start || address >= mapping->end)
		return -EFAULT;
	if (address % PORT_PAGE_SIZE || pfn < mapping->first_pfn ||
	    pfn - mapping->first_pfn >= pfn_mapping_pages(mapping))
		return -EINVAL;
	type = memtype_lookup(mapping->memtypes, pfn << PORT_PAGE_SHIFT);
	error = pte_lock(table, address, &ref);
	if (error)
		return error;
	if (atomic_load_explicit(&mapping->removed, memory_order_relaxed))
		error = -EAGAIN;
	else if (atomic_load_explicit(ref.entry, memory_order_relaxed))
		error = -EBUSY;
	else
		pte_install(table, &ref, pte_make_pfn(pfn, mapping->writable, type));
	pte_unlock(&ref);
	return error;
}

int pfn_mapping_fault(struct pfn_mapping *mapping, struct table *table, uintptr_t address)
{
	int error = insert_pfn(mapping, table, address, pfn_mapping_pfn(mapping, address));

	return error == -EBUSY ? 0 : error;
}
