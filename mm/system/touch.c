/* SPDX-License-Identifier: MIT */
/*
 * Touching memory: the page table first, then the fault.
 */
#include <errno.h>

#include "mm/system/internal.h"
#include "port/mmu.h"
#include "port/trace.h"
#include "sync/rcu.h"

static const char fault_scope[] = "fault";

/* Notes that this CPU may hold translations of the space from now on. */
static void note_touch(struct sf_space *space)
{
	unsigned cpu = port_cpu();
	_Atomic uint64_t *word = &space->touched_by[cpu / 64];
	uint64_t bit = (uint64_t)1 << cpu % 64;

	if (likely(atomic_load_explicit(word, memory_order_relaxed) & bit))
		return;
	atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
	/* The bit comes before the first entry that is read; the other side is flush() in space.c. */
	atomic_thread_fence(memory_order_seq_cst);
}

/* What the program wanted of the byte. Others may do the same to it at once. */
static void use_contents(struct frames *frames, uint64_t pte, uintptr_t address, bool write)
{
	uint64_t pfn = pte_pfn(pte);
	_Atomic unsigned char *byte;

	if (pfn >= frames->contents_count)
		return;
	byte = (_Atomic unsigned char *)page_address(frames, pfn_to_page(frames, pfn)) +
	       address % PORT_PAGE_SIZE;
	if (write)
		atomic_fetch_or_explicit(byte, 0, memory_order_relaxed);
	else
		(void)atomic_load_explicit(byte, memory_order_relaxed);
}

static int fault(struct sf_space *space, uintptr_t address, bool write)
{
	struct pfn_mapping *mapping;
	int error;

	port_rcu_read_lock();
	mapping = mapping_set_find(rcu_dereference(&space->mappings), address);
	if (!mapping)
		error = -EFAULT;
	else if (write && !mapping->writable)
		error = -EACCES;
	else
		error = mapping->fault(mapping, &space->table, address - address % PORT_PAGE_SIZE);
	port_rcu_read_unlock();
	return error;
}

int sf_space_touch(struct sf_space *space, uintptr_t address, bool write)
{
	struct sf_system *system = space->system;
	uint64_t pte;
	int error = 0;
	bool hit;

	if (address >= TABLE_ADDRESS_END)
		return -EFAULT;
	system_enter(system);
	note_touch(space);
	for (;;) {
		port_rcu_read_lock();
		hit = table_touch(&space->table, address, write, &pte);
		if (hit)
			use_contents(system->frames, pte, address, write);
		port_rcu_read_unlock();
		if (hit)
			break;

		port_scope_begin(fault_scope);
		port_fault_enter();
		error = fault(space, address, write);
		port_fault_exit();
		port_scope_end();
		if (error && error != -EAGAIN)
			break;
	}
	system_exit(system);
	return error == -EAGAIN ? 0 : error;
}

uint64_t sf_space_pte(struct sf_space *space, uintptr_t address)
{
	uint64_t pte = 0;

	if (address >= TABLE_ADDRESS_END)
		return 0;
	port_rcu_read_lock();
	pte = table_read(&space->table, address);
	port_rcu_read_unlock();
	return pte;
}
