/* SPDX-License-Identifier: MIT */
/*
 * Making, walking, growing and touching.
 */
#include "mm/table/table.h"

#include <errno.h>

#include "mm/table/pte_lock.h"
#include "mm/table/table_page.h"
#include "port/panic.h"
#include "port/rcu.h"

static const struct pte_lock_ops *const lock_ops[] = {
    [POLICY_PAGE_TABLE_LOCK_PTE_BIT] = &pte_lock_bit_ops,
    [POLICY_PAGE_TABLE_LOCK_SPLIT] = &pte_lock_split_ops,
    [POLICY_PAGE_TABLE_LOCK_MM] = &pte_lock_mm_ops,
};

int table_init(struct table *table, struct frames *frames, enum policy_page_table_lock policy,
	       struct charge *charge)
{
	table->frames = frames;
	table->lock_ops = lock_ops[policy];
	spin_lock_init(&table->lock, LOCK_RANK_PAGE_TABLE);
	translations_init(&table->translations);
	if (percpu_alloc(&table->counts, sizeof(struct table_counts), "struct table_counts"))
		return -ENOMEM;
	table->root = table_page_create(table, charge);
	if (!table->root) {
		percpu_free(&table->counts);
		return -ENOMEM;
	}
	return 0;
}

static void destroy_level(struct table *table, struct page *page, int level)
{
	struct table_page *entries = table_of(table, page);

	for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
		uint64_t entry = atomic_load_explicit(&entries->entry[i], memory_order_relaxed);

		invariant(level > 1 || !entry);
		if (entry)
			destroy_level(table, pfn_to_page(table->frames, pte_pfn(entry)), level - 1);
	}
	table_page_free(table, page);
}

void table_destroy(struct table *table)
{
	destroy_level(table, table->root, TABLE_LEVELS);
	percpu_free(&table->counts);
}

uint64_t table_counted(const struct table *table, enum table_counter counter)
{
	int64_t sum = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct table_counts *counts = percpu_of(&table->counts, cpu);

		sum += atomic_load_explicit(&counts->count[counter], memory_order_relaxed);
	}
	/* CPUs are looked at one after the other: one may have taken away what another is yet to add. */
	return sum > 0 ? (uint64_t)sum : 0;
}

/* Fills an empty upper entry with a new table. Returns the table that is there now, NULL without a frame. */
static struct page *grow(struct table *table, _Atomic uint64_t *entry, struct charge *charge)
{
	struct page *page = table_page_create(table, charge);
	uint64_t found = 0;

	if (!page)
		return NULL;
	/* Release: the empty table becomes visible with the entry. Sequentially consistent for the argument
	 * in docs/LOCKING.md, "A fault and an unmap". */
	if (atomic_compare_exchange_strong_explicit(entry, &found,
						    pte_make_table(page_to_pfn(table->frames, page)),
						    memory_order_seq_cst, memory_order_acquire))
		return page;
	table_page_free(table, page);
	return pfn_to_page(table->frames, pte_pfn(found));
}

struct page *table_walk(struct table *table, uintptr_t address, struct charge *charge)
{
	struct page *page = table->root;

	port_rcu_reading(1);
	for (int level = TABLE_LEVELS; level > 1 && page; level--) {
		_Atomic uint64_t *entry = &table_of(table, page)->entry[table_index(address, level)];
		uint64_t value = atomic_load_explicit(entry, memory_order_acquire);

		if (value)
			page = pfn_to_page(table->frames, pte_pfn(value));
		else
			page = charge ? grow(table, entry, charge) : NULL;
	}
	return page;
}

/* Moves *address on to the next entry of the table in `page` that is not empty, to its end or to `end`. */
static void skip_empty(struct table *table, struct page *page, int level, uintptr_t *address, uintptr_t end)
{
	const struct table_page *entries = table_of(table, page);
	const uintptr_t bytes = table_entry_bytes(level);
	uintptr_t at = *address;
	unsigned index = table_index(at, level);

	do {
		at += bytes - at % bytes;
		index++;
	} while (at < end && index < TABLE_ENTRIES &&
		 !atomic_load_explicit(&entries->entry[index], memory_order_relaxed));
	*address = at;
}

struct page *table_next(struct table *table, uintptr_t *address, uintptr_t end)
{
	port_rcu_reading(1);
	while (*address < end) {
		struct page *page = table->root;
		int level = TABLE_LEVELS;

		while (level > 1) {
			uint64_t value =
			    atomic_load_explicit(&table_of(table, page)->entry[table_index(*address, level)],
						 memory_order_acquire);

			if (!value)
				break;
			page = pfn_to_page(table->frames, pte_pfn(value));
			level--;
		}
		if (level == 1)
			return page;
		skip_empty(table, page, level, address, end);
	}
	return NULL;
}

bool table_touch(struct table *table, uintptr_t address, enum touch touch, uint64_t *pte)
{
	const uint64_t set = PTE_ACCESSED | (touch == TOUCH_WRITE ? PTE_DIRTY : 0);
	struct page *page = table_walk(table, address, NULL);
	_Atomic uint64_t *entry;

	if (!page)
		return false;
	entry = table_entry(table, page, address);
	*pte = atomic_load_explicit(entry, memory_order_acquire);
	do {
		if (!pte_allows(*pte, touch))
			return false;
		if ((*pte & set) == set)
			break;
	} while (!atomic_compare_exchange_weak_explicit(entry, pte, *pte | set, memory_order_acquire,
							memory_order_acquire));
	*pte = (*pte | set) & ~PTE_LOCKED;
	return true;
}

uint64_t table_read(struct table *table, uintptr_t address)
{
	struct page *page = table_walk(table, address, NULL);

	if (!page)
		return 0;
	return atomic_load_explicit(table_entry(table, page, address), memory_order_acquire) & ~PTE_LOCKED;
}

static void set_ref(struct table *table, struct page *page, uintptr_t address, struct pte_ref *ref)
{
	ref->table = table;
	ref->page = page;
	ref->entry = table_entry(table, page, address);
	ref->address = address;
}

static void ref_lock(struct table *table, struct page *page, uintptr_t address, struct pte_ref *ref)
{
	set_ref(table, page, address, ref);
	table->lock_ops->lock(ref);
}

int pte_lock(struct table *table, uintptr_t address, struct charge *charge, struct pte_ref *ref)
{
	struct page *page = table_walk(table, address, charge);

	if (!page)
		return -ENOMEM;
	ref_lock(table, page, address, ref);
	return 0;
}

bool pte_lock_existing(struct table *table, uintptr_t address, struct pte_ref *ref)
{
	struct page *page = table_walk(table, address, NULL);

	/* Acquire: who has emptied it used its page before, which can be leaving its object by now. */
	if (!page || !atomic_load_explicit(table_entry(table, page, address), memory_order_acquire))
		return false;
	ref_lock(table, page, address, ref);
	if (ref->value)
		return true;
	pte_unlock(ref);
	return false;
}

static bool maps_pfn(uint64_t pte, uint64_t pfn)
{
	return pte_maps(pte) && !(pte & PTE_SPECIAL) && pte_pfn(pte) == pfn;
}

/* Finds the entry, if it maps the frame or seems to. */
static struct page *find_mapping(struct table *table, uintptr_t address, uint64_t pfn)
{
	struct page *page = table_walk(table, address, NULL);

	if (page &&
	    !maps_pfn(atomic_load_explicit(table_entry(table, page, address), memory_order_relaxed), pfn))
		page = NULL;
	return page;
}

int pte_lock_mapping(struct table *table, uintptr_t address, uint64_t pfn, struct pte_ref *ref)
{
	struct page *page = find_mapping(table, address, pfn);

	if (!page)
		return -ENOENT;
	ref_lock(table, page, address, ref);
	if (maps_pfn(ref->value, pfn))
		return 0;
	pte_unlock(ref);
	return -ENOENT;
}

int pte_trylock_mapping(struct table *table, uintptr_t address, uint64_t pfn, struct pte_ref *ref)
{
	struct page *page = find_mapping(table, address, pfn);

	if (!page)
		return -ENOENT;
	set_ref(table, page, address, ref);
	if (!table->lock_ops->trylock(ref))
		return -EBUSY;
	if (maps_pfn(ref->value, pfn))
		return 0;
	pte_unlock(ref);
	return -ENOENT;
}

void pte_unlock(struct pte_ref *ref)
{
	ref->table->lock_ops->clear_unlock(ref, 0);
}

uint64_t pte_clear_unlock(struct pte_ref *ref, uint64_t bits)
{
	pte_changed(ref->table, ref->address, ref->value, ref->value & ~bits);
	return ref->table->lock_ops->clear_unlock(ref, bits);
}

uint64_t pte_set_unlock(struct pte_ref *ref, uint64_t pte)
{
	pte_changed(ref->table, ref->address, ref->value, pte);
	return ref->table->lock_ops->set_unlock(ref, pte);
}

uint64_t pte_empty(struct pte_ref *ref)
{
	uint64_t old;

	invariant(pte_maps(ref->value));
	pte_changed(ref->table, ref->address, ref->value, 0);
	/* Not 0 with any policy: who passes over what is empty without the lock must not miss what comes. */
	old = atomic_exchange_explicit(ref->entry, PTE_LOCKED, memory_order_acq_rel) & ~PTE_LOCKED;
	ref->value = 0;
	return old;
}
