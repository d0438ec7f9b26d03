/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/table/: the life of a table's frame, and ways through the levels. All walks stand in an RCU
 * read section or under a lock of the space that keeps tables from being unhooked.
 */
#ifndef MM_TABLE_TABLE_PAGE_H
#define MM_TABLE_TABLE_PAGE_H

#include "mm/table/table.h"

/* Returns the frame of a new, empty table, charged; or NULL as charged_page_alloc(). */
struct page *table_page_create(struct table *table, struct charge *charge);

/*
 * Gives it back: at once, when nobody else has ever seen it or can any more; or after a grace period. The
 * charge is taken back at once in either case, so that what a group may have after an unmap does not depend
 * on grace periods.
 */
void table_page_free(struct table *table, struct page *page);
void table_page_retire(struct table *table, struct page *page);

/*
 * Returns the last-level table of `address`. If there is none, makes it and charges it to `charge`, and
 * returns NULL as charged_page_alloc(); without `charge` returns NULL.
 */
struct page *table_walk(struct table *table, uintptr_t address, struct charge *charge);

/*
 * Finds the first last-level table at or after *address and below `end`, and moves *address up to where it
 * begins, if it begins later. Returns NULL when there is none. Skips what an empty upper entry stands for in
 * one step.
 */
struct page *table_next(struct table *table, uintptr_t *address, uintptr_t end);

static inline _Atomic uint64_t *table_entry(struct table *table, struct page *page, uintptr_t address)
{
	return &table_of(table, page)->entry[table_index(address, 1)];
}

#endif
