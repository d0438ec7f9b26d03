/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/table/: the lock of a last-level entry, as the policy `page_table_lock` has it.
 *
 *   mm       one spinning lock of the whole table   mm/table/pte_lock_spin.c
 *   split    one of each last-level table           mm/table/pte_lock_spin.c
 *   pte_bit  a bit of the entry itself              mm/table/pte_lock_bit.c
 *
 * One entry is locked, changed and unlocked by the functions of the first group. Who works on many entries of
 * one last-level table, each by itself, opens a run: with a spinning lock that takes the lock once; with
 * `pte_bit` nothing is locked, and each entry is changed by pte_swap(), which waits for its bit. So inside a
 * run nobody else changes the entry between the read that pte_swap() was told of and its write, with either.
 */
#ifndef MM_TABLE_PTE_LOCK_H
#define MM_TABLE_PTE_LOCK_H

#include "mm/table/table.h"
#include "port/mmu.h"
#include "port/spin.h"

struct pte_lock_ops {
	/* Of ref, `value` is to be filled in. */
	void (*lock)(struct pte_ref *ref);
	/* The same without waiting: returns whether it has the lock. */
	bool (*trylock)(struct pte_ref *ref);
	/* See pte_clear_unlock() and pte_set_unlock(). */
	uint64_t (*clear_unlock)(struct pte_ref *ref, uint64_t bits);
	uint64_t (*set_unlock)(struct pte_ref *ref, uint64_t pte);

	uint64_t held; /* what an entry is that is emptied inside a run, and not to be seen so yet */
	void (*run_begin)(struct table *table, struct page *page);
	void (*run_end)(struct table *table, struct page *page);
};

extern const struct pte_lock_ops pte_lock_mm_ops;
extern const struct pte_lock_ops pte_lock_split_ops;
extern const struct pte_lock_ops pte_lock_bit_ops;

/* Reads an entry inside a run, when nobody holds its bit. */
static inline uint64_t pte_read_in_run(_Atomic uint64_t *entry)
{
	uint64_t value = atomic_load_explicit(entry, memory_order_acquire);

	return unlikely(value & PTE_LOCKED) ? port_spin_until_u64(entry, PTE_LOCKED, 0) : value;
}

/*
 * Changes an entry inside a run, if it is still *value; else *value becomes what it is, when nobody holds its
 * bit, and false is returned.
 */
static inline bool pte_swap(_Atomic uint64_t *entry, uint64_t *value, uint64_t pte)
{
	if (atomic_compare_exchange_strong_explicit(entry, value, pte, memory_order_acq_rel,
						    memory_order_acquire))
		return true;
	if (*value & PTE_LOCKED)
		*value = port_spin_until_u64(entry, PTE_LOCKED, 0);
	return false;
}

/* Tells the machine of a change. */
static inline void pte_changed(struct table *table, uintptr_t address, uint64_t old, uint64_t pte)
{
	const uint64_t rights = PTE_PRESENT | PTE_WRITE | PTE_NX;

	if (!(old & PTE_PRESENT)) {
		if (pte & PTE_PRESENT)
			port_mmu_map((uintptr_t)table, address, pte);
	} else if (!(pte & PTE_PRESENT)) {
		port_mmu_unmap((uintptr_t)table, address);
	} else if (pte_pfn(old) != pte_pfn(pte)) {
		port_mmu_unmap((uintptr_t)table, address);
		port_mmu_map((uintptr_t)table, address, pte);
	} else if ((old ^ pte) & rights) {
		port_mmu_protect((uintptr_t)table, address, pte);
	}
}

#endif
