/* SPDX-License-Identifier: MIT */
/*
 * Taking pages from the lists to be looked at, and putting them back. The lists hold no references, so who
 * isolates takes one while the lock keeps the page from being released: a page on a list whose last reference
 * is gone has somebody waiting for the lock to take it off.
 */
#include "mm/page/frames.h"
#include "mm/page/lru_parts.h"

static bool get_unless_zero(struct page *page)
{
	uint32_t old = atomic_load_explicit(&page->refcount, memory_order_relaxed);

	do {
		if (old == 0)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&page->refcount, &old, old + 1, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

static void isolate(struct lruvec *lruvec, struct page *page)
{
	uint32_t state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);

	lru_unlist_page(lruvec, page);
	atomic_store_explicit(&page->lru_state, state | LRU_STATE_ISOLATED, memory_order_relaxed);
}

unsigned lru_isolate(struct page_group *group, unsigned place, enum lru_list list, struct page **pages,
		     unsigned max)
{
	struct lruvec *lruvec = group->lruvec[place];
	struct list *head = &lruvec->list[list];
	unsigned count = 0;

	if (!lru_pages_at(group, place, list))
		return 0;
	spin_lock(lruvec->lock);
	for (struct list *link = head->prev, *before; link != head && count < max; link = before) {
		struct page *page = container_of(link, struct page, lru);

		before = link->prev;
		if (!get_unless_zero(page))
			continue;
		isolate(lruvec, page);
		pages[count++] = page;
	}
	spin_unlock(lruvec->lock);
	return count;
}

bool lru_isolate_page(struct lru_run *run, struct page *page)
{
	struct lruvec *lruvec;

	if (!page_has_flag(page, PG_lru) ||
	    (atomic_load_explicit(&page->lru_state, memory_order_relaxed) & LRU_STATE_WAITS))
		return false;
	lruvec = lru_run_lock(run, page);
	/* An object's page can have been taken off since, as it left: by who held this lock. */
	if (!page_has_flag(page, PG_lru) || (atomic_load_explicit(&page->lru_state, memory_order_relaxed) &
					     (LRU_STATE_ISOLATED | LRU_STATE_GONE)))
		return false;
	isolate(lruvec, page);
	return true;
}

/* Onto its kind of list of the age that `list` has, or, with `other_kind`, onto `list` itself. */
static void put(struct lru_run *run, struct page *page, enum lru_list list, bool other_kind)
{
	struct lruvec *lruvec = lru_run_lock(run, page);
	uint32_t state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);

	invariant(state & LRU_STATE_ISOLATED);
	if (!(state & LRU_STATE_GONE))
		lru_list_page(lruvec, page, lru_state_place(state),
			      other_kind ? list : (state & LRU_FILE) | list);
}

void lru_putback(struct lru_run *run, struct page *page, bool active)
{
	put(run, page, active ? LRU_ACTIVE : LRU_INACTIVE, false);
}

void lru_putback_swapped(struct lru_run *run, struct page *page, bool active)
{
	put(run, page, active ? LRU_ACTIVE : LRU_INACTIVE, true);
}

void lru_lazy_free(struct lru *lru, struct page *page)
{
	struct lru_run run;

	if (atomic_load_explicit(&page->lru_state, memory_order_relaxed) & LRU_FILE)
		return;
	lru_run_begin(&run, lru);
	if (lru_isolate_page(&run, page))
		put(&run, page, LRU_INACTIVE_FILE, true);
	lru_run_end(&run);
}

enum lru_list lru_isolated_from(const struct page *page)
{
	return atomic_load_explicit(&page->lru_state, memory_order_relaxed) & LRU_STATE_LIST;
}

uint64_t lru_pages(const struct lru *lru, const struct page_group *group, enum lru_list list)
{
	uint64_t pages = 0;

	for (unsigned place = 0; place < lru->places; place++)
		pages += lru_pages_at(group, place, list);
	return pages;
}
