/* SPDX-License-Identifier: MIT */
/*
 * Swapping in. Who finds no page puts a locked one there and reads it; whoever wants it meanwhile sleeps
 * until it is unlocked, and starts over. A page that cannot be read leaves the cache before it is unlocked,
 * and the slot is as it was: the next one who wants it tries again.
 */
#include <errno.h>

#include "mm/charge/workingset.h"
#include "mm/page/lru.h"
#include "mm/page/page_wait.h"
#include "mm/swap/area.h"

#define RUNS 4u

struct window {
	struct swap_area *area;
	struct charge *charge;              /* or NULL */
	uint64_t first;                     /* slot */
	unsigned count;                     /* slots that there are */
	unsigned wanted;                    /* the one that somebody waits for */
	struct page *page[SF_IO_PAGES_MAX]; /* those that are to be read, locked, with a reference; or NULL */
	int error;                          /* of the wanted one */
};

struct run {
	struct page_io io;
	unsigned first; /* in the window */
	int error;      /* could not be started */
};

static struct page *alloc_page(struct frames *frames, struct charge *charge)
{
	struct page *page;

	if (!charge)
		return frame_alloc(frames);
	port_rcu_read_lock();
	charge_begin(charge);
	page = charged_page_alloc(frames, charge);
	port_rcu_read_unlock();
	return page;
}

/* Makes a locked page for a slot. Returns 0 with it and a reference in *page, -ENOMEM, or as swap_insert().
 */
static int add_locked(struct swap *swap, struct swap_entry entry, struct charge *charge, struct page **page)
{
	struct page *fresh = alloc_page(swap->frames, charge);
	int error;

	if (!fresh)
		return -ENOMEM;
	page_set_flag(fresh, PG_locked);
	error = swap_insert(swap, entry, fresh);
	if (error)
		page_put(swap->frames, fresh);
	else
		*page = fresh;
	return error;
}

/* Fills the window around a slot: its page must come, the others may. */
static int fill(struct window *window, struct swap *swap, struct swap_entry entry, struct charge *charge)
{
	struct swap_area *area = swap_area_of(swap, entry);
	uint64_t slot = swap_entry_slot(entry), mask = swap->read_ahead_pages - 1;
	int error = 0;

	window->area = area;
	window->charge = charge;
	window->first = slot & ~mask;
	window->wanted = (unsigned)(slot & mask);
	window->count = swap->read_ahead_pages;
	if (area->slots - window->first < window->count)
		window->count = (unsigned)(area->slots - window->first);
	window->error = 0;
	for (unsigned i = 0; i < window->count; i++)
		window->page[i] = NULL;
	error = add_locked(swap, entry, charge, &window->page[window->wanted]);
	if (error)
		return error;
	for (unsigned i = 0; i < window->count && error != -ENOMEM; i++) {
		struct swap_entry near = swap_entry(area->number, window->first + i);
		uint64_t word = atomic_load_explicit(swap_word(area, near), memory_order_relaxed);

		if ((word & SLOT_COUNT_MASK) && !(word & (SLOT_PFN_MASK | SLOT_BAD)))
			error = add_locked(swap, near, charge, &window->page[i]);
	}
	return 0;
}

static void start(struct window *window, struct page_io *io, unsigned first, unsigned count, int *error)
{
	io->io.offset = (window->first + first) << PORT_PAGE_SHIFT;
	io->io.bytes = (uint64_t)count << PORT_PAGE_SHIFT;
	io->io.count = count;
	for (unsigned i = 0; i < count; i++)
		io->io.page[i] = page_address(window->area->swap->frames, window->page[first + i]);
	swap_count(window->area, SWAP_READS, 1);
	*error = page_io_start(window->area->backing, io, window->page[first], false);
}

static int finish_io(struct run *run)
{
	return run->error ? run->error : page_io_wait(&run->io);
}

static void end_page(struct window *window, unsigned at, int error)
{
	struct swap *swap = window->area->swap;
	struct page *page = window->page[at];

	if (error)
		swap_uninsert(swap, page);
	else if (window->charge)
		lru_add(swap->frames->lru, page,
			at == window->wanted ? workingset_refault(page, 0) : LRU_INACTIVE);
	/* Release: the contents come before the flag. */
	page_end_flag(page, PG_locked, error ? 0 : PG_uptodate);
	if (error) {
		page_put(swap->frames, page);
	} else {
		swap_count(window->area, at == window->wanted ? SWAP_READ : SWAP_AHEAD, 1);
		swap_free_unused(swap, page);
	}
	if (error || at != window->wanted)
		page_put(swap->frames, page);
	if (at == window->wanted)
		window->error = error;
}

/* The wanted page is read once more alone if its run has failed: a neighbour may have been the reason. */
static void finish(struct window *window, struct run *run)
{
	int error = finish_io(run);
	unsigned first = run->first, count = run->io.io.count;

	for (unsigned i = first; i < first + count; i++) {
		int own = error;

		if (error && count > 1 && i == window->wanted) {
			start(window, &run->io, i, 1, &run->error);
			own = finish_io(run);
		}
		end_page(window, i, own);
	}
}

static void read_window(struct window *window)
{
	struct run run[RUNS];
	unsigned started = 0, finished = 0;

	for (unsigned at = 0, end; at < window->count; at = end) {
		end = at + 1;
		if (!window->page[at])
			continue;
		while (end < window->count && window->page[end])
			end++;
		if (started - finished == RUNS)
			finish(window, &run[finished++ % RUNS]);
		run[started % RUNS].first = at;
		start(window, &run[started % RUNS].io, at, end - at, &run[started % RUNS].error);
		started++;
	}
	while (finished < started)
		finish(window, &run[finished++ % RUNS]);
}

int swap_in(struct swap *swap, struct swap_entry entry, struct charge *charge, struct page **page)
{
	for (;;) {
		struct window window;
		int error;

		*page = swap_find(swap, entry);
		if (*page && page_is_uptodate(*page))
			return 0;
		if (*page) {
			page_wait_flag(*page, PG_locked);
			page_put(swap->frames, *page);
			continue;
		}
		error = fill(&window, swap, entry, charge);
		if (error == -EEXIST)
			continue;
		if (error)
			return error;
		lock_rank_may_sleep();
		read_window(&window);
		if (!window.error)
			*page = window.page[window.wanted];
		return window.error;
	}
}
