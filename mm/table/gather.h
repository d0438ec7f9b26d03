/* SPDX-License-Identifier: MIT */
/*
 * A TLB gather: pages whose last mapping may be gone, kept until no CPU can have a translation of them. In
 * batches: when one is full the CPUs that run the space are flushed once, and the whole batch is released.
 */
#ifndef MM_TABLE_GATHER_H
#define MM_TABLE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/page/page.h"

struct table;

/* As many as fit in two pages of pointers; lives in the caller's frame, needs no allocation. */
#define GATHER_PAGES 1022

struct gather {
	struct table *table;
	uintptr_t start, end;  /* what must be flushed so far; empty when start >= end */
	bool changing;         /* the space has TLBs: translations_change_begin() */
	bool write_protecting; /* translations.write_protecting is odd because of us */
	unsigned count;
	struct page *pages[GATHER_PAGES];
};

/*
 * From before the first entry changes. The space's lock is held until the last one has changed; or the first
 * and the last one change in one RCU read section with this.
 */
void gather_begin(struct gather *gather, struct table *table);

/*
 * Adds a page that has lost a mapping: its reference is dropped once all CPUs are flushed. A full gather is
 * flushed and released first: unless there is room, no PTE lock is held and the caller is in no RCU read
 * section.
 */
void gather_page(struct gather *gather, uintptr_t address, struct page *page);

/* Notes that an entry of [start, end) lost a right: it must be flushed before the operation returns. */
void gather_flush_range(struct gather *gather, uintptr_t start, uintptr_t end);

/*
 * Notes that entries are about to lose the right to write because their pages become shared, until
 * gather_end(). The space's lock is held for writing.
 */
void gather_write_protect(struct gather *gather);

/*
 * Flushes what is due, releases what is left. Entries that another gather has taken away meanwhile are
 * flushed from TLBs, too.
 */
void gather_end(struct gather *gather);

/* Flushes and releases what was gathered so far, with nothing held as above. */
void gather_flush(struct gather *gather);

/* How many pages gather_page() takes without a flush. */
static inline unsigned gather_room(const struct gather *gather)
{
	return GATHER_PAGES - gather->count;
}

#endif
