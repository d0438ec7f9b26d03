/* SPDX-License-Identifier: MIT */
/*
 * The policy `pte_bit`. Two CPUs that fault at neighbouring addresses share no lock, and what is written is
 * the line that holds the entry, which is about to be written anyhow.
 *
 * Taking the bit is a sequentially consistent read-modify-write even of an empty entry: docs/LOCKING.md, "A
 * fault and an unmap", needs it.
 */
#include "mm/table/pte_lock.h"

static const char *class_name(void)
{
	return lock_rank_name[LOCK_RANK_PTE];
}

static void bit_lock(struct pte_ref *ref)
{
	bool contended = false;

	lock_rank_take(ref->entry, LOCK_RANK_PTE, LOCK_SPINNING, 0);
	ref->value = atomic_load_explicit(ref->entry, memory_order_relaxed);
	for (;;) {
		if (ref->value & PTE_LOCKED) {
			if (!contended)
				port_lock_contended(ref->entry, class_name(), 0);
			contended = true;
			ref->value = port_spin_until_u64(ref->entry, PTE_LOCKED, 0);
		}
		if (atomic_compare_exchange_strong_explicit(ref->entry, &ref->value, ref->value | PTE_LOCKED,
							    memory_order_seq_cst, memory_order_relaxed))
			break;
	}
	port_lock_acquired(ref->entry, class_name(), 0);
}

static bool bit_trylock(struct pte_ref *ref)
{
	ref->value = atomic_load_explicit(ref->entry, memory_order_relaxed);
	/* Who has the bit, or has changed the entry just now, is at work here. */
	if ((ref->value & PTE_LOCKED) ||
	    !atomic_compare_exchange_strong_explicit(ref->entry, &ref->value, ref->value | PTE_LOCKED,
						     memory_order_seq_cst, memory_order_relaxed))
		return false;
	lock_rank_take(ref->entry, LOCK_RANK_PTE, LOCK_SPINNING, 1);
	port_lock_acquired(ref->entry, class_name(), 0);
	return true;
}

static void released(struct pte_ref *ref)
{
	lock_rank_release(ref->entry, LOCK_RANK_PTE);
	port_lock_released(ref->entry, class_name(), 0);
}

static uint64_t bit_clear_unlock(struct pte_ref *ref, uint64_t bits)
{
	released(ref);
	/* The hardware may have set bits of an entry that maps something. */
	if (pte_maps(ref->value))
		return atomic_fetch_and_explicit(ref->entry, ~(bits | PTE_LOCKED), memory_order_acq_rel) &
		       ~PTE_LOCKED;
	atomic_store_explicit(ref->entry, ref->value & ~bits, memory_order_release);
	return ref->value;
}

static uint64_t bit_set_unlock(struct pte_ref *ref, uint64_t pte)
{
	released(ref);
	if (pte_maps(ref->value))
		return atomic_exchange_explicit(ref->entry, pte, memory_order_acq_rel) & ~PTE_LOCKED;
	atomic_store_explicit(ref->entry, pte, memory_order_release);
	return ref->value;
}

static void bit_run(struct table *table, struct page *page)
{
	(void)table;
	(void)page;
}

const struct pte_lock_ops pte_lock_bit_ops = {
    .lock = bit_lock,
    .trylock = bit_trylock,
    .clear_unlock = bit_clear_unlock,
    .set_unlock = bit_set_unlock,
    .held = PTE_LOCKED,
    .run_begin = bit_run,
    .run_end = bit_run,
};
