/* SPDX-License-Identifier: MIT */
/*
 * What becomes of pages that were isolated: docs/RECLAIM.md, "Reclaim". In steps, each for the whole batch:
 * look and unmap; flush once; write; take away; put back.
 *
 * A page is PG_locked from its look on. An anonymous one that is being written is unlocked meanwhile, so that
 * who faults on it need not wait for the write to read it; then it is tried again.
 */
#include "mm/charge/release.h"
#include "mm/object/evict.h"
#include "mm/page/page_wait.h"
#include "mm/reclaim/internal.h"
#include "mm/rmap/reverse_map.h"
#include "mm/swap/swap.h"
#include "port/rcu.h"
#include "sync/lock_rank.h"

/* Where a page stands, or what has become of it. */
enum fate {
	FATE_UNMAPPED, /* anonymous: locked, out of reach after the flush */
	FATE_DROPPED,  /* anonymous, and not wanted any more: the same, and nobody can find it again */
	FATE_WRITTEN,  /* anonymous: not locked, being written */
	FATE_EVICTED,  /* an object's: locked, between the steps of mm/object/evict.h */
	FATE_INACTIVE, /* stays; not locked, as all that follow */
	FATE_ACTIVE,
	FATE_TAKEN
};

struct shrink {
	struct round *round;
	struct reclaim *reclaim;
	struct page **page;
	unsigned count;
	enum fate fate[RECLAIM_BATCH];
	bool touched[RECLAIM_BATCH]; /* to stay active */
	bool written[RECLAIM_BATCH]; /* lazily freed, and written to since: swap's again */
	struct rmap_batch unmap;
	struct evict_batch evict;
	struct swap_writer writer;
};

_Static_assert(RECLAIM_BATCH <= RMAP_BATCH_PAGES && RECLAIM_BATCH <= EVICT_PAGES, "one batch of each");

static void count_entries(struct reclaim *reclaim, const struct rmap_found *found)
{
	reclaim_count(reclaim, RECLAIM_VISITED, found->visited);
	reclaim_count(reclaim, RECLAIM_SKIPPED, found->skipped);
}

/*
 * References that nobody explains are pins, or somebody at work. Only a hint: they are counted again where
 * the page is taken away.
 */
static bool has_other_users(const struct page *page)
{
	uint32_t known = 1 + page_mapcount(page);

	known += page_has_flag(page, PG_swapcache) != 0;
	known += page_has_flag(page, PG_cached) != 0;
	/* Acquire: what a user did before it put its reference is seen. */
	return atomic_load_explicit(&page->refcount, memory_order_acquire) > known;
}

/*
 * Second chance: memory that swap takes, touched since it became inactive, is active again. A file's page has
 * to be touched twice: many are touched once in their lives. So has what is used by offset.
 */
static enum fate look(struct shrink *shrink, struct page *page)
{
	bool again = page_has_flag(page, PG_referenced), activate = page_has_flag(page, PG_activate);
	struct rmap_found found = {0};

	if (page_mapcount(page)) {
		page_referenced(shrink->reclaim->config.rmap, page, &found);
		count_entries(shrink->reclaim, &found);
	}
	if (activate)
		page_clear_flag(page, PG_activate);
	if (found.locked || activate)
		return FATE_ACTIVE;
	if (!found.references)
		return FATE_UNMAPPED;
	if (!page_has_flag(page, PG_file) || again || found.references > 1)
		return FATE_ACTIVE;
	page_set_flag(page, PG_referenced);
	return FATE_INACTIVE;
}

static enum unmap_result unmap(struct shrink *shrink, struct page *page)
{
	struct rmap_found found;
	enum unmap_result result;

	if (!page_mapcount(page))
		return UNMAP_DONE;
	result = try_to_unmap(&shrink->unmap, page, &found);
	count_entries(shrink->reclaim, &found);
	return result;
}

/*
 * Gives up a slot that cannot be written, for a page that is mapped: when no entry names it. Returns whether
 * the page can be swapped.
 */
static bool leave_bad_slot(struct shrink *shrink, struct page *page)
{
	struct swap *swap = shrink->reclaim->config.swap;

	if (!page_has_flag(page, PG_dirty) || !swap_is_bad(swap, page_swap_entry(page)))
		return true;
	if (!page_mapcount(page) || !swap_take_page(swap, page))
		return false;
	page_put(shrink->reclaim->config.frames, page);
	return true;
}

static enum fate unmap_anonymous(struct shrink *shrink, struct page *page, enum fate done)
{
	switch (unmap(shrink, page)) {
	case UNMAP_DONE:
		return done;
	case UNMAP_LOCKED:
		return FATE_ACTIVE;
	default:
		shrink->round->busy = true;
		return FATE_INACTIVE;
	}
}

/* Its slot is kept if it stays: another round may find it clean. */
static enum fate begin_anonymous(struct shrink *shrink, unsigned i)
{
	struct page *page = shrink->page[i];

	if (page_has_flag(page, PG_swapcache) && !leave_bad_slot(shrink, page))
		return FATE_ACTIVE;
	if (!page_has_flag(page, PG_swapcache)) {
		/* With no mapping it is about to be freed, or pinned. */
		if (!page_mapcount(page))
			return FATE_INACTIVE;
		if (page_has_flag(page, PG_lazy_free)) {
			enum fate fate = unmap_anonymous(shrink, page, FATE_DROPPED);

			/* Else it was written to since, and is as any other. */
			if (page_has_flag(page, PG_lazy_free))
				return fate;
			shrink->written[i] = true;
		}
		if (shrink->round->swap_full)
			return FATE_INACTIVE;
		if (swap_add_page(shrink->reclaim->config.swap, page)) {
			shrink->round->swap_full = true;
			return FATE_INACTIVE;
		}
	}
	return unmap_anonymous(shrink, page, FATE_UNMAPPED);
}

static enum fate stays(struct shrink *shrink, enum evict evict)
{
	if (evict == EVICT_COMING)
		return FATE_TAKEN;
	if (evict == EVICT_DIRTY)
		shrink->round->dirty++;
	if (evict == EVICT_FULL)
		shrink->round->swap_full = true;
	/* The object's lock is another's, or the page has users. */
	if (evict == EVICT_KEPT)
		shrink->round->busy = true;
	return FATE_INACTIVE;
}

static enum fate begin_cached(struct shrink *shrink, unsigned i)
{
	struct page *page = shrink->page[i];
	enum evict evict;

	if (!page_has_flag(page, PG_file) && shrink->round->swap_full)
		return FATE_INACTIVE;
	evict = object_evict_begin(&shrink->evict, page);
	if (evict != EVICT_GO)
		return stays(shrink, evict);
	shrink->touched[i] = unmap(shrink, page) == UNMAP_LOCKED;
	return FATE_EVICTED;
}

/* The first page that is going to be free of `flag` without this CPU. */
static enum fate hold(struct round *round, struct page *page, enum page_flag flag)
{
	if (round->holds && !round->held) {
		page_get(page);
		round->held = page;
		round->held_flag = flag;
	}
	return FATE_INACTIVE;
}

/* From here on until it is unlocked no fault maps it for the first time. */
static enum fate begin(struct shrink *shrink, unsigned i)
{
	struct page *page = shrink->page[i];
	enum fate fate = FATE_UNMAPPED;

	shrink->touched[i] = shrink->written[i] = false;
	if (page_has_flag(page, PG_writeback))
		return hold(shrink->round, page, PG_writeback);
	if (!page_try_flag(page, PG_locked))
		return hold(shrink->round, page, PG_locked);
	if (page_has_flag(page, PG_writeback)) {
		fate = hold(shrink->round, page, PG_writeback);
	} else if (has_other_users(page)) {
		shrink->round->busy = true;
		fate = FATE_INACTIVE;
	}
	if (fate == FATE_UNMAPPED && !shrink->round->all)
		fate = look(shrink, page);
	if (fate == FATE_UNMAPPED)
		fate = page_has_flag(page, PG_cached) ? begin_cached(shrink, i) : begin_anonymous(shrink, i);
	if (fate >= FATE_INACTIVE)
		page_unlock(page);
	return fate;
}

/* Takes an anonymous page that is locked and clean away, if nobody has found it meanwhile. Unlocks it. */
static enum fate take(struct shrink *shrink, struct page *page)
{
	bool failed = page_has_flag(page, PG_dirty);
	bool taken =
	    page_has_flag(page, PG_swapcache) && swap_remove_clean(shrink->reclaim->config.swap, page);

	page_unlock(page);
	if (!taken)
		return failed ? FATE_ACTIVE : FATE_INACTIVE;
	/* The cache's. The caller's is the last. */
	page_put(shrink->reclaim->config.frames, page);
	return FATE_TAKEN;
}

/* After the flush nobody writes to the page any more. A slot that cannot be written keeps its page. */
static enum fate write_anonymous(struct shrink *shrink, struct page *page)
{
	bool failed;

	if (!page_has_flag(page, PG_dirty))
		return take(shrink, page);
	/* Pinned before it was unmapped: it may be written to until it is not, and is dirty then. */
	if (has_other_users(page)) {
		shrink->round->busy = true;
		page_unlock(page);
		return FATE_INACTIVE;
	}
	failed = swap_writer_add(&shrink->writer, page);
	page_unlock(page);
	return failed ? FATE_ACTIVE : FATE_WRITTEN;
}

static void write_pages(struct shrink *shrink)
{
	swap_writer_init(&shrink->writer, shrink->reclaim->config.swap, SF_IO_PAGES_MAX);
	for (unsigned i = 0; i < shrink->count; i++) {
		struct page *page = shrink->page[i];

		if (shrink->fate[i] == FATE_UNMAPPED)
			shrink->fate[i] = write_anonymous(shrink, page);
		else if (shrink->fate[i] == FATE_EVICTED)
			stays(shrink, object_evict_write(page, &shrink->writer));
	}
	swap_writer_finish(&shrink->writer);
}

static void take_pages(struct shrink *shrink)
{
	for (unsigned i = 0; i < shrink->count; i++) {
		struct page *page = shrink->page[i];

		if (shrink->fate[i] == FATE_DROPPED) {
			page_unlock(page);
			shrink->fate[i] = FATE_TAKEN;
		}
		if (shrink->fate[i] == FATE_WRITTEN)
			shrink->fate[i] = page_try_flag(page, PG_locked) ? take(shrink, page) : FATE_INACTIVE;
		else if (shrink->fate[i] == FATE_EVICTED)
			shrink->fate[i] = stays(shrink, object_evict_end(&shrink->evict, page));
		if (shrink->fate[i] == FATE_INACTIVE && shrink->touched[i])
			shrink->fate[i] = FATE_ACTIVE;
		/* The last entry that named its slot may have gone while it was locked here. */
		if (shrink->fate[i] == FATE_INACTIVE || shrink->fate[i] == FATE_ACTIVE)
			swap_free_unused(shrink->reclaim->config.swap, page);
	}
	object_evict_finish(&shrink->evict);
}

/* Faults may have found them in the index a moment ago, in a read section, and take references. */
static void let_wait(struct round *round, struct evict_batch *evict)
{
	if (round->waiting + evict->left > ROUND_WAITING)
		round_free_waiting(round);
	for (unsigned i = 0; i < evict->left; i++)
		round->wait[round->waiting++] = evict->leaving[i];
}

void round_free_waiting(struct round *round)
{
	if (!round->waiting)
		return;
	lock_rank_may_sleep();
	port_rcu_synchronize();
	release_pages(round->reclaim->config.frames, round->wait, round->waiting);
	round->waiting = 0;
}

static void put_back(struct shrink *shrink)
{
	struct round *round = shrink->round;
	uint64_t taken = 0, activated = 0;
	struct lru_run run;

	lru_run_begin(&run, shrink->reclaim->config.frames->lru);
	for (unsigned i = 0; i < shrink->count; i++) {
		enum fate fate = shrink->fate[i];

		if (fate == FATE_TAKEN) {
			/* Nobody finds it any more, and so nobody comes to take it off the lists. */
			page_clear_flag(shrink->page[i], PG_lru);
			taken++;
			continue;
		}
		activated += fate == FATE_ACTIVE;
		if (shrink->written[i])
			lru_putback_swapped(&run, shrink->page[i], fate == FATE_ACTIVE);
		else
			lru_putback(&run, shrink->page[i], fate == FATE_ACTIVE);
	}
	lru_run_end(&run);
	reclaim_count(shrink->reclaim, RECLAIM_RECLAIMED, taken);
	reclaim_count(shrink->reclaim, RECLAIM_ACTIVATED, activated);
	round->freed += taken;
}

void shrink_pages(struct round *round, struct page **pages, unsigned count)
{
	struct shrink shrink;

	shrink.round = round;
	shrink.reclaim = round->reclaim;
	shrink.page = pages;
	shrink.count = count;
	rmap_batch_begin(&shrink.unmap, round->reclaim->config.rmap);
	object_evict_init(&shrink.evict, round->reclaim->config.objects);
	for (unsigned i = 0; i < count; i++)
		shrink.fate[i] = begin(&shrink, i);
	rmap_batch_flush(&shrink.unmap);
	write_pages(&shrink);
	take_pages(&shrink);
	let_wait(round, &shrink.evict);
	put_back(&shrink);
	reclaim_count(round->reclaim, RECLAIM_SCANNED, count);
	if (round->write_alone && round->dirty)
		for (unsigned i = 0; i < count; i++)
			if (page_has_flag(pages[i], PG_dirty) && page_has_flag(pages[i], PG_file))
				object_write_around(pages[i]);
	release_pages(round->reclaim->config.frames, pages, count);
}

/*
 * The touches until now count no more: what is touched until it reaches the inactive list's end comes back.
 */
static bool deactivate(struct reclaim *reclaim, struct page *page)
{
	struct rmap_found found = {0};

	if (!page_try_flag(page, PG_locked))
		return false;
	if (page_mapcount(page)) {
		page_referenced(reclaim->config.rmap, page, &found);
		count_entries(reclaim, &found);
	}
	page_unlock(page);
	if (!found.locked && !page_has_flag(page, PG_workingset))
		page_set_flag(page, PG_workingset);
	return !found.locked;
}

unsigned shrink_active(struct round *round, struct sf_group *group, unsigned place, enum lru_list list)
{
	struct frames *frames = round->reclaim->config.frames;
	struct page *page[RECLAIM_BATCH];
	bool inactive[RECLAIM_BATCH];
	unsigned count = lru_isolate(&group->pages, place, list, page, RECLAIM_BATCH);
	unsigned deactivated = 0;
	struct lru_run run;

	round->isolated = round->isolated || count;
	for (unsigned i = 0; i < count; i++)
		inactive[i] = deactivate(round->reclaim, page[i]);
	lru_run_begin(&run, frames->lru);
	for (unsigned i = 0; i < count; i++) {
		lru_putback(&run, page[i], !inactive[i]);
		deactivated += inactive[i];
	}
	lru_run_end(&run);
	release_pages(frames, page, count);
	reclaim_count(round->reclaim, RECLAIM_DEACTIVATED, deactivated);
	return count;
}
