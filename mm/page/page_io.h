/* SPDX-License-Identifier: MIT */
/*
 * One transfer between pages and a backing (struct sf_backing in softfault.h), for who waits for its end: by
 * a word of its first page, as the transfer itself can be gone as soon as the waiter sees the end. The end
 * may be told by a thread that has no CPU, so all it does is wake the waiter.
 */
#ifndef MM_PAGE_PAGE_IO_H
#define MM_PAGE_PAGE_IO_H

#include <stdbool.h>

#include "mm/page/page.h"
#include "softfault.h"

struct page_io {
	struct sf_io io;
	struct page *page; /* the first one: page->transferred tells the end */
	int error;         /* by who ends it, before that */
};

/*
 * Starts a transfer of io->io, whose first page is `page`: the caller has PG_locked of it for reading, and
 * has made it PG_writeback for writing. Returns 0, or why it cannot be started. Part of the fault path, may
 * sleep.
 */
int page_io_start(struct sf_backing *backing, struct page_io *io, struct page *page, bool write);

/* Waits for one that was started. Returns what it ended with. Sleeps; no spinning lock is held. */
int page_io_wait(struct page_io *io);

#endif
