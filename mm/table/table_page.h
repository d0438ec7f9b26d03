/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/table/: the life of a table's frame, and which lock protects a last-level entry.
 */
#ifndef MM_TABLE_TABLE_PAGE_H
#define MM_TABLE_TABLE_PAGE_H

#include "mm/table/table.h"

/* Returns the frame of a new, empty table, or NULL. */
struct page *table_page_create(struct frames *frames);

/* Gives it back: at once, when nobody else has ever seen it or can any more; or after a grace period. */
void table_page_free(struct page *page);
void table_page_retire(struct page *page);

/*
 * The lock of the last-level entries in `page`: each table has its own, in its struct page. Nothing else in
 * mm/ knows that.
 */
static inline void table_page_lock(struct page *page)
{
	spin_lock(&page->table.lock);
}

static inline void table_page_unlock(struct page *page)
{
	spin_unlock(&page->table.lock);
}

#endif
