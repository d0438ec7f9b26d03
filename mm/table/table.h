/* SPDX-License-Identifier: MIT */
/*
 * Page tables: four levels of 512 entries, 48 bits of address, of which the lower half is the user's.
 *
 * Tables are reached from the root without a lock, inside an RCU read section. An entry of an upper level
 * goes from empty to a table by compare-and-swap (a loser gives its table back), and from a last-level table
 * to empty only in table_clear(). A last-level table's entries are changed under that table's lock; the
 * hardware alone, here table_touch(), sets accessed and dirty bits without it, by compare-and-swap.
 *
 * Exclusion matrix, for one address:
 *
 *                  touch  pte_lock..unlock  table_clear
 *   touch           yes         yes             yes
 *   pte_lock        yes    no: the lock    no: the lock
 *   table_clear     yes    no: the lock    no: the callers' own lock
 *
 * After table_clear() has visited an address, every later pte_lock() of it, and its holder, sees all that the
 * clearing CPU did before: where there is a last-level table through its lock; where an upper entry is empty,
 * because table_clear() visits that entry by a read-modify-write with release order, and whoever fills it
 * later does so by one with acquire order, whose own release everyone below the new table has acquired.
 */
#ifndef MM_TABLE_TABLE_H
#define MM_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/page/frames.h"
#include "mm/table/pte.h"

#define TABLE_ENTRIES 512u
#define TABLE_LEVELS  4 /* the root is of level 4, a last-level table of level 1 */

/* One past the last user address. */
#define TABLE_ADDRESS_END ((uintptr_t)1 << 47)

/* The contents of a page table's frame. */
struct table_page {
	_Atomic uint64_t entry[TABLE_ENTRIES];
};

struct table {
	/* Both read only after table_init(). The table's address names its space to port/mmu.h. */
	struct frames *frames;
	struct page *root;
};

/* A last-level entry whose lock the caller holds. */
struct pte_ref {
	_Atomic uint64_t *entry;
	struct page *page;
	uintptr_t address;
};

/* Makes an empty table. Returns 0, or -ENOMEM when there is no frame for the root. */
int table_init(struct table *table, struct frames *frames);

/* Gives all frames of the table back. Nobody uses it, and no last-level entry is present. */
void table_destroy(struct table *table);

/*
 * Does what the hardware does on a touch of `address` (below TABLE_ADDRESS_END): if the entry allows it, sets
 * the accessed bit, on a write also the dirty bit, writes the entry to *pte and returns true. False is a
 * fault. Inside an RCU read section.
 */
bool table_touch(struct table *table, uintptr_t address, bool write, uint64_t *pte);

/* Returns the last-level entry of `address`, 0 if there is no table for it. Inside an RCU read section. */
uint64_t table_read(struct table *table, uintptr_t address);

/*
 * Finds the last-level entry of `address` (whole pages, below TABLE_ADDRESS_END), making tables that are
 * missing, and locks it. Returns 0, or -ENOMEM when a table cannot have a frame: tables made on the way stay.
 * Inside an RCU read section; takes a lock of rank PAGE_TABLE. Part of the fault path.
 */
int pte_lock(struct table *table, uintptr_t address, struct pte_ref *ref);
void pte_unlock(struct pte_ref *ref);

/* Sets the entry, which is empty, to `pte`, which is present. */
void pte_install(struct table *table, struct pte_ref *ref, uint64_t pte);

/*
 * Empties every entry of [start, end) (whole pages) and gives last-level tables that lie in it back, after a
 * grace period. One call at a time for one table; the caller may hold sleeping locks, and is in no RCU read
 * section. Translations that CPUs hold are the caller's to flush.
 */
void table_clear(struct table *table, uintptr_t start, uintptr_t end);

/* Called for each present last-level entry; a negative return ends the walk. */
typedef int table_visit(void *argument, uintptr_t address, uint64_t pte, struct message *why);

/*
 * Checks the table while nothing runs, calls `visit` for each entry, and adds the number of its frames to
 * *frames_used. Returns 0, -EINVAL with the first thing found wrong, or what `visit` returned.
 */
int table_check(struct table *table, table_visit *visit, void *argument, uint64_t *frames_used,
		struct message *why);

/* The entries of the table in `page`. */
static inline struct table_page *table_of(const struct table *table, const struct page *page)
{
	return page_address(table->frames, page);
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
