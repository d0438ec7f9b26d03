/* SPDX-License-Identifier: MIT */
/*
 * The policies `mm` and `split`: the lock of an entry is a spinning lock, of the whole table or of the
 * last-level table.
 */
#include "mm/table/pte_lock.h"

static void lock_entry(struct spinlock *lock, struct pte_ref *ref)
{
	spin_lock(lock);
	ref->value = atomic_load_explicit(ref->entry, memory_order_relaxed);
}

static bool trylock_entry(struct spinlock *lock, struct pte_ref *ref)
{
	if (!spin_trylock(lock))
		return false;
	ref->value = atomic_load_explicit(ref->entry, memory_order_relaxed);
	return true;
}

static uint64_t set_unlock(struct spinlock *lock, struct pte_ref *ref, uint64_t pte)
{
	uint64_t old = ref->value;

	/* The hardware may have set bits of an entry that maps something. */
	if (pte_maps(old))
		old = atomic_exchange_explicit(ref->entry, pte, memory_order_acq_rel);
	else
		atomic_store_explicit(ref->entry, pte, memory_order_release);
	spin_unlock(lock);
	return old;
}

static uint64_t clear_unlock(struct spinlock *lock, struct pte_ref *ref, uint64_t bits)
{
	uint64_t old = ref->value;

	if (old & bits)
		old = atomic_fetch_and_explicit(ref->entry, ~bits, memory_order_acq_rel);
	spin_unlock(lock);
	return old;
}

static void mm_lock(struct pte_ref *ref)
{
	lock_entry(&ref->table->lock, ref);
}

static bool mm_trylock(struct pte_ref *ref)
{
	return trylock_entry(&ref->table->lock, ref);
}

static uint64_t mm_clear_unlock(struct pte_ref *ref, uint64_t bits)
{
	return clear_unlock(&ref->table->lock, ref, bits);
}

static uint64_t mm_set_unlock(struct pte_ref *ref, uint64_t pte)
{
	return set_unlock(&ref->table->lock, ref, pte);
}

static void mm_run_begin(struct table *table, struct page *page)
{
	(void)page;
	spin_lock(&table->lock);
}

static void mm_run_end(struct table *table, struct page *page)
{
	(void)page;
	spin_unlock(&table->lock);
}

const struct pte_lock_ops pte_lock_mm_ops = {
    .lock = mm_lock,
    .trylock = mm_trylock,
    .clear_unlock = mm_clear_unlock,
    .set_unlock = mm_set_unlock,
    .run_begin = mm_run_begin,
    .run_end = mm_run_end,
};

static void split_lock(struct pte_ref *ref)
{
	lock_entry(&ref->page->table.lock, ref);
}

static bool split_trylock(struct pte_ref *ref)
{
	return trylock_entry(&ref->page->table.lock, ref);
}

static uint64_t split_clear_unlock(struct pte_ref *ref, uint64_t bits)
{
	return clear_unlock(&ref->page->table.lock, ref, bits);
}

static uint64_t split_set_unlock(struct pte_ref *ref, uint64_t pte)
{
	return set_unlock(&ref->page->table.lock, ref, pte);
}

static void split_run_begin(struct table *table, struct page *page)
{
	(void)table;
	spin_lock(&page->table.lock);
}

static void split_run_end(struct table *table, struct page *page)
{
	(void)table;
	spin_unlock(&page->table.lock);
}

const struct pte_lock_ops pte_lock_split_ops = {
    .lock = split_lock,
    .trylock = split_trylock,
    .clear_unlock = split_clear_unlock,
    .set_unlock = split_set_unlock,
    .run_begin = split_run_begin,
    .run_end = split_run_end,
};
