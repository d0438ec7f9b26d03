/* SPDX-License-Identifier: MIT */
/*
 * Sleeping until a page's PG_locked or PG_writeback goes. Who clears one looks for PG_waiters in the same
 * step; who sleeps sets it in the step that finds the flag still there, and sleeps on the word of the flags
 * itself, as it was after that step: so any change of it until then is a reason to look again.
 */
#ifndef MM_PAGE_PAGE_WAIT_H
#define MM_PAGE_PAGE_WAIT_H

#include "mm/page/page.h"
#include "port/wait.h"
#include "sync/lock_rank.h"

/*
 * Sets `flag` if it is clear; returns whether it did. Acquire: what who cleared it did comes before. Release:
 * who clears it after this has failed sees what came before this.
 */
static inline bool page_try_flag(struct page *page, enum page_flag flag)
{
	return !(atomic_fetch_or_explicit(&page->flags, flag, memory_order_acq_rel) & flag);
}

/* Clears `flag`, sets the flags of `set`, and wakes who waits. Release order; and acquire, see above. */
static inline void page_end_flag(struct page *page, enum page_flag flag, uint32_t set)
{
	uint32_t old = atomic_load_explicit(&page->flags, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&page->flags, &old,
						      (old & ~(uint32_t)(flag | PG_waiters)) | set,
						      memory_order_acq_rel, memory_order_relaxed))
		;
	if (old & PG_waiters)
		port_wake(&page->flags, UINT32_MAX);
}

/* Sleeps while `flag` is set. The caller has a reference, holds no spinning lock, is in no read section. */
static inline void page_wait_flag(struct page *page, enum page_flag flag)
{
	for (;;) {
		uint32_t flags;

		if (!(atomic_load_explicit(&page->flags, memory_order_acquire) & flag))
			return;
		flags = atomic_fetch_or_explicit(&page->flags, PG_waiters, memory_order_acq_rel);
		if (!(flags & flag))
			return;
		lock_rank_may_sleep();
		port_wait(&page->flags, flags | PG_waiters);
	}
}

/* Sets PG_locked, sleeping while others have. */
static inline void page_lock(struct page *page)
{
	while (!page_try_flag(page, PG_locked))
		page_wait_flag(page, PG_locked);
}

static inline void page_unlock(struct page *page)
{
	page_end_flag(page, PG_locked, 0);
}

#endif
