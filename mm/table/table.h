/* SPDX-License-Identifier: MIT */
/*
 * Page tables: four levels of 512 entries, 48 bits of address, of which the lower half is the user's.
 *
 * Tables are reached from the root without a lock, inside an RCU read section. An entry of an upper level
 * goes from empty to a table by compare-and-swap (a loser gives its table back), and from a last-level table
 * to empty only in table_zap(). A last-level entry is changed under its lock, which is what the policy
 * `page_table_lock` makes it (mm/table/pte_lock.h); the hardware alone, here table_touch(), sets accessed and
 * dirty bits without it, by compare-and-swap.
 *
 * Exclusion matrix, for one address:
 *
 *                  touch  pte_lock..unlock  range functions
 *   touch           yes         yes             yes
 *   pte_lock        yes    no: the lock    no: the lock
 *   range           yes    no: the lock    as mm/table/range.h says
 *
 * What orders a fault against the one who takes its mapping away: docs/LOCKING.md, "A fault and an unmap".
 */
#ifndef MM_TABLE_TABLE_H
#define MM_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/charge/charge.h"
#include "mm/page/frames.h"
#include "mm/policy/policy.h"
#include "mm/table/pte.h"
#include "mm/table/translations.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

#define TABLE_ENTRIES 512u
#define TABLE_LEVELS  4 /* the root is of level 4, a last-level table of level 1 */

/* One past the last user address. */
#define TABLE_ADDRESS_END ((uintptr_t)1 << 47)

/* How much a last-level table maps, in bytes. */
#define TABLE_BYTES ((uintptr_t)PORT_PAGE_SIZE * TABLE_ENTRIES)

struct pte_lock_ops;

/* The contents of a page table's frame. */
struct table_page {
	_Atomic uint64_t entry[TABLE_ENTRIES];
};

enum table_counter {
	TABLE_RESIDENT, /* last-level entries that map counted pages */
	TABLE_SWAPPED,  /* last-level entries that name swap slots: who makes or empties one counts it */
	TABLE_TABLES,   /* frames of the table itself */
	TABLE_COUNTERS
};

/* How much each counter changed on one CPU. Written by that CPU alone, relaxed; read by anyone. */
struct table_counts {
	CACHE_LINE_ALIGNED _Atomic int64_t count[TABLE_COUNTERS];
};

struct table {
	/* All read only after table_init(). The table's address names its space to port/mmu.h. */
	CACHE_LINE_ALIGNED struct frames *frames;
	struct page *root;
	const struct pte_lock_ops *lock_ops;
	struct percpu counts; /* of struct table_counts */

	/* The one lock of all entries, of the policy `mm`. */
	CACHE_LINE_ALIGNED struct spinlock lock;

	struct translations translations;
};

/* A last-level entry whose lock the caller holds. */
struct pte_ref {
	struct table *table;
	struct page *page; /* the last-level table */
	_Atomic uint64_t *entry;
	uintptr_t address;
	uint64_t value; /* what it was when it was locked; bits that the hardware sets may have come since */
};

/*
 * Makes an empty table. Returns 0, or -ENOMEM when there is no memory, or no frame for the root, or no room
 * for it in the group that is charged.
 */
int table_init(struct table *table, struct frames *frames, enum policy_page_table_lock policy,
	       struct charge *charge);

/*
 * Gives all frames of the table back, at once. Nobody uses it, and no last-level entry is there; a grace
 * period has passed since the last fault.
 */
void table_destroy(struct table *table);

/*
 * Does what the hardware does on a touch of `address` (below TABLE_ADDRESS_END): if the entry allows it, sets
 * the accessed bit, on a write also the dirty bit, writes the entry to *pte and returns true. False is a
 * fault. Inside an RCU read section; what is done with the frame must lie in the same access section
 * (port/mmu.h) or under a lock that keeps the entry.
 */
bool table_touch(struct table *table, uintptr_t address, enum touch touch, uint64_t *pte);

/* Returns the last-level entry of `address`, 0 if there is no table for it. Inside an RCU read section. */
uint64_t table_read(struct table *table, uintptr_t address);

/*
 * Finds the last-level entry of `address` (whole pages, below TABLE_ADDRESS_END), making tables that are
 * missing, which are charged to `charge`, and locks it. Returns 0; or -ENOMEM when a table cannot have a
 * frame, with charge->over_limit as charged_page_alloc() sets it: tables made on the way stay.
 * Inside an RCU read section. Takes a lock of rank PAGE_TABLE or PTE. Part of the fault path.
 *
 * With `pte_bit` the taking is a sequentially consistent read-modify-write of the entry.
 */
int pte_lock(struct table *table, uintptr_t address, struct charge *charge, struct pte_ref *ref);

/* The same for an entry that must be there and not be empty; returns false, with nothing locked, if not. */
bool pte_lock_existing(struct table *table, uintptr_t address, struct pte_ref *ref);

/*
 * The same for an entry that maps frame `pfn`, without waiting: returns 0 with it locked; -EBUSY when another
 * CPU has the lock, also where the entry cannot be told; -ENOENT when it maps something else or nothing.
 */
int pte_trylock_mapping(struct table *table, uintptr_t address, uint64_t pfn, struct pte_ref *ref);

/* The same, and waits for the lock: 0 or -ENOENT. */
int pte_lock_mapping(struct table *table, uintptr_t address, uint64_t pfn, struct pte_ref *ref);

void pte_unlock(struct pte_ref *ref);

/*
 * Takes what an entry maps out of it and keeps it locked: what is done before the unlock comes before all who
 * look at the entry under its lock, and touches fault. Until then it is PTE_LOCKED alone. Returns what it
 * was, with the bits that the hardware has set in the meantime.
 */
uint64_t pte_empty(struct pte_ref *ref);

/*
 * Clears `bits` of the entry and unlocks it, in one step; bits that the hardware has set in the meantime stay
 * unless they are among those. Returns what the entry was just before.
 */
uint64_t pte_clear_unlock(struct pte_ref *ref, uint64_t bits);

/*
 * Sets the entry to `pte` and unlocks it, in one step as others see it: who touches through the entry sees
 * what was done to the frame before. Returns what the entry was, with the bits that the hardware has set in
 * the meantime. Counting pages is the caller's.
 */
uint64_t pte_set_unlock(struct pte_ref *ref, uint64_t pte);

/* Called for each last-level entry that is not empty; a negative return ends the walk. */
typedef int table_visit(void *argument, uintptr_t address, uint64_t pte, struct message *why);

/*
 * Checks the table while nothing runs, calls `visit` for each entry, and adds the number of its frames to
 * *frames_used. Returns 0, -EINVAL with the first thing found wrong, or what `visit` returned.
 */
int table_check(struct table *table, table_visit *visit, void *argument, uint64_t *frames_used,
		struct message *why);

/* Adds `change` to a counter of the calling CPU. Part of the fault path. */
static inline void table_count(struct table *table, enum table_counter counter, int64_t change)
{
	struct table_counts *counts = percpu_this(&table->counts);
	int64_t old = atomic_load_explicit(&counts->count[counter], memory_order_relaxed);

	atomic_store_explicit(&counts->count[counter], old + change, memory_order_relaxed);
}

/* Returns the sum of a counter over all CPUs; while they run, of a moment that each has passed. */
uint64_t table_counted(const struct table *table, enum table_counter counter);

/* The entries of the table in `page`. */
static inline struct table_page *table_of(const struct table *table, const struct page *page)
{
	return page_address(table->frames, page);
}

/* Where the last-level table of `address` ends, but at most `end`. */
static inline uintptr_t table_run_end(uintptr_t address, uintptr_t end)
{
	uintptr_t border = address - address % TABLE_BYTES + TABLE_BYTES;

	return border < end ? border : end;
}

/* How much one entry of `level` maps, in bytes. */
static inline uintptr_t table_entry_bytes(int level)
{
	return (uintptr_t)PORT_PAGE_SIZE << 9 * (level - 1);
}

static inline unsigned table_index(uintptr_t address, int level)
{
	return address / table_entry_bytes(level) % TABLE_ENTRIES;
}

#endif
