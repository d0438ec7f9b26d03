/* SPDX-License-Identifier: MIT */
/*
 * The swap cache and the references of slots. Every change of a slot is one atomic step of its word, so
 * exactly one of those who take away finds that nothing is left, and gives the slot back.
 */
#include <errno.h>

#include "mm/page/page_wait.h"
#include "mm/swap/area.h"
#include "port/spin.h"
#include "port/trace.h"

static const char *class_name(void)
{
	return lock_rank_name[LOCK_RANK_SWAP_SLOT];
}

/* Locks the word of a slot that has a page, and returns it as it was; 0, and not locked, when there is none.
 */
static uint64_t lock_slot(_Atomic uint64_t *word)
{
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
	bool contended = false;

	if (!(old & SLOT_PFN_MASK))
		return 0;
	lock_rank_take(word, LOCK_RANK_SWAP_SLOT, LOCK_SPINNING, 0);
	do {
		if (old & SLOT_LOCKED) {
			if (!contended)
				port_lock_contended(word, class_name(), 0);
			contended = true;
			old = port_spin_until_u64(word, SLOT_LOCKED, 0);
		}
		if (!(old & SLOT_PFN_MASK)) {
			lock_rank_release(word, LOCK_RANK_SWAP_SLOT);
			return 0;
		}
		/* Acquire: what was done with the page before it was put there, or under the lock, is seen.
		 */
	} while ((old & SLOT_LOCKED) ||
		 !atomic_compare_exchange_weak_explicit(word, &old, old | SLOT_LOCKED, memory_order_acquire,
							memory_order_relaxed));
	port_lock_acquired(word, class_name(), 0);
	return old;
}

/* The same of a slot whose page the caller has locked. */
static void lock_slot_of(_Atomic uint64_t *word, const struct page *page)
{
	uint64_t old;

	invariant(page_has_flag(page, PG_locked) && page_has_flag(page, PG_swapcache));
	old = lock_slot(word);
	invariant(old);
}

/* Unlocks it, and clears `bits` of it. Returns what is left. References come and go meanwhile. */
static uint64_t unlock_slot(_Atomic uint64_t *word, uint64_t bits)
{
	lock_rank_release(word, LOCK_RANK_SWAP_SLOT);
	port_lock_released(word, class_name(), 0);
	bits |= SLOT_LOCKED;
	return atomic_fetch_and_explicit(word, ~bits, memory_order_acq_rel) & ~bits;
}

static struct page *page_of(const struct swap *swap, uint64_t word)
{
	return pfn_to_page(swap->frames, word & SLOT_PFN_MASK);
}

/* Acquire: what who cleared them did with the slot comes before. */
static bool has_flags(const struct page *page, uint64_t flags)
{
	return (atomic_load_explicit(&page->flags, memory_order_acquire) & flags) != 0;
}

/* Takes the page out of a slot that is locked, and clears `flags` of it; it is locked itself. */
static void remove_locked(struct swap_area *area, struct swap_entry entry, struct page *page, uint32_t flags)
{
	uint64_t left;

	atomic_fetch_and_explicit(&page->flags, ~flags, memory_order_relaxed);
	swap_count(area, SWAP_CACHED, -1);
	left = unlock_slot(swap_word(area, entry), SLOT_PFN_MASK);
	if (!(left & ~SLOT_BAD))
		swap_area_give(area, swap_entry_slot(entry), left & SLOT_BAD);
}

bool swap_any(const struct swap *swap)
{
	return atomic_load_explicit(&swap->order, memory_order_relaxed) != 0;
}

int swap_add_page(struct swap *swap, struct page *page)
{
	uint64_t order = atomic_load_explicit(&swap->order, memory_order_acquire);

	invariant(page_has_flag(page, PG_locked) && !page_has_flag(page, PG_swapcache));
	for (; order; order >>= 8) {
		unsigned number = (unsigned)(order & 0xff) - 1;
		struct swap_area *area = atomic_load_explicit(&swap->area[number], memory_order_acquire);
		struct swap_entry entry;
		uint64_t slot;

		if (swap_area_take(area, &slot))
			continue;
		entry = swap_entry(number, slot);
		page_get(page);
		atomic_store_explicit(&page->swap, entry.value, memory_order_relaxed);
		atomic_fetch_or_explicit(&page->flags, PG_swapcache | PG_dirty | PG_uptodate,
					 memory_order_relaxed);
		swap_count(area, SWAP_CACHED, 1);
		/* Who was given the slot before is done with it: its word is 0. */
		atomic_store_explicit(swap_word(area, entry), page_to_pfn(swap->frames, page),
				      memory_order_release);
		return 0;
	}
	return -ENOSPC;
}

int swap_insert(struct swap *swap, struct swap_entry entry, struct page *page)
{
	struct swap_area *area = swap_area_of(swap, entry);
	_Atomic uint64_t *word = swap_word(area, entry);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	page_get(page);
	atomic_store_explicit(&page->swap, entry.value, memory_order_relaxed);
	page_set_flag(page, PG_swapcache);
	do {
		int error = old & SLOT_PFN_MASK ? -EEXIST : !(old & SLOT_COUNT_MASK) ? -ENOENT : 0;

		if (error) {
			page_clear_flag(page, PG_swapcache);
			page_put(swap->frames, page);
			return error;
		}
	} while (!atomic_compare_exchange_weak_explicit(word, &old, old | page_to_pfn(swap->frames, page),
							memory_order_acq_rel, memory_order_relaxed));
	swap_count(area, SWAP_CACHED, 1);
	return 0;
}

void swap_uninsert(struct swap *swap, struct page *page)
{
	struct swap_entry entry = page_swap_entry(page);
	struct swap_area *area = swap_area_of(swap, entry);

	lock_slot_of(swap_word(area, entry), page);
	remove_locked(area, entry, page, PG_swapcache | PG_dirty);
}

int swap_dup(struct swap *swap, struct swap_entry entry)
{
	_Atomic uint64_t *word = swap_word(swap_area_of(swap, entry), entry);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	do {
		invariant(old & (SLOT_COUNT_MASK | SLOT_PFN_MASK));
		if ((old & SLOT_COUNT_MASK) == SLOT_COUNT_MASK)
			return -ENOMEM;
	} while (!atomic_compare_exchange_weak_explicit(word, &old, old + SLOT_COUNT_ONE,
							memory_order_relaxed, memory_order_relaxed));
	return 0;
}

bool swap_put(struct swap *swap, struct swap_entry entry)
{
	struct swap_area *area = swap_area_of(swap, entry);
	uint64_t left =
	    atomic_fetch_sub_explicit(swap_word(area, entry), SLOT_COUNT_ONE, memory_order_acq_rel);

	invariant(left & SLOT_COUNT_MASK);
	left -= SLOT_COUNT_ONE;
	if (!(left & ~SLOT_BAD))
		swap_area_give(area, swap_entry_slot(entry), left & SLOT_BAD);
	return (left & SLOT_PFN_MASK) && !(left & SLOT_COUNT_MASK);
}

struct page *swap_find(struct swap *swap, struct swap_entry entry)
{
	_Atomic uint64_t *word = swap_word(swap_area_of(swap, entry), entry);
	uint64_t old = lock_slot(word);
	struct page *page;

	if (!old)
		return NULL;
	page = page_of(swap, old);
	page_get(page);
	unlock_slot(word, 0);
	return page;
}

bool swap_is_cached(const struct swap *swap, struct swap_entry entry)
{
	return (atomic_load_explicit(swap_word(swap_area_of(swap, entry), entry), memory_order_relaxed) &
		SLOT_PFN_MASK) != 0;
}

bool swap_is_bad(const struct swap *swap, struct swap_entry entry)
{
	return (atomic_load_explicit(swap_word(swap_area_of(swap, entry), entry), memory_order_relaxed) &
		SLOT_BAD) != 0;
}

/*
 * No reference comes to a slot without one: it would be copied from an entry that has one, or made by who has
 * the page locked, as the caller has.
 */
bool swap_take_page(struct swap *swap, struct page *page)
{
	struct swap_entry entry = page_swap_entry(page);
	struct swap_area *area = swap_area_of(swap, entry);
	uint64_t word;

	word = atomic_load_explicit(swap_word(area, entry), memory_order_acquire);
	if ((word & SLOT_COUNT_MASK) || has_flags(page, PG_writeback))
		return false;
	lock_slot_of(swap_word(area, entry), page);
	if (page_has_flag(page, PG_anonymous)) {
		page_set_flag(page, PG_dirty);
		remove_locked(area, entry, page, PG_swapcache);
	} else {
		remove_locked(area, entry, page, PG_swapcache | PG_dirty);
	}
	return true;
}

/*
 * Whether nothing names a slot that had `page` a moment ago, and has it still. A hint, but never wrong for
 * long. It goes by the slot: what page->swap is when the page has left the cache, nobody knows.
 */
static bool is_unused(const struct swap *swap, struct swap_entry entry, const struct page *page)
{
	uint64_t word =
	    atomic_load_explicit(swap_word(swap_area_of(swap, entry), entry), memory_order_acquire);

	return (word & SLOT_PFN_MASK) == page_to_pfn(swap->frames, page) && !(word & SLOT_COUNT_MASK) &&
	       !has_flags(page, PG_writeback);
}

/* Another one may have put the last reference while this had the page locked in vain. */
bool swap_try_take_page(struct swap *swap, struct page *page)
{
	struct swap_entry entry;
	bool cached, taken;

	do {
		/* Who looks without the lock may see it a moment late, and leaves the page to reclaim. */
		if (!page_has_flag(page, PG_swapcache) || !page_try_flag(page, PG_locked))
			return false;
		cached = page_has_flag(page, PG_swapcache);
		entry = cached ? page_swap_entry(page) : (struct swap_entry){0};
		taken = cached && swap_take_page(swap, page);
		page_unlock(page);
	} while (cached && !taken && is_unused(swap, entry, page));
	return taken;
}

void swap_free_unused(struct swap *swap, struct page *page)
{
	if (page_has_flag(page, PG_swapcache) && !page_mapcount(page) && swap_try_take_page(swap, page))
		page_put(swap->frames, page);
}

struct page *swap_take_cached(struct swap *swap, struct swap_entry entry)
{
	struct page *page = swap_find(swap, entry);
	bool taken;

	if (!page)
		return NULL;
	taken = swap_try_take_page(swap, page);
	/* Not the last one if it was taken: that is the cache's. */
	page_put(swap->frames, page);
	return taken ? page : NULL;
}

bool swap_remove_clean(struct swap *swap, struct page *page)
{
	struct swap_entry entry = page_swap_entry(page);
	struct swap_area *area = swap_area_of(swap, entry);

	lock_slot_of(swap_word(area, entry), page);
	/* Two references, the caller's and the cache's: only by the slot could there be another. */
	if (atomic_load_explicit(&page->refcount, memory_order_acquire) != 2 ||
	    has_flags(page, PG_dirty | PG_writeback)) {
		unlock_slot(swap_word(area, entry), 0);
		return false;
	}
	remove_locked(area, entry, page, PG_swapcache | PG_dirty);
	return true;
}
