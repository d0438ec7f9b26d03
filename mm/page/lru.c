/* SPDX-License-Identifier: MIT */
/*
 * The lists, whatever their places.
 */
#include "mm/page/lru.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/page/frames.h"
#include "mm/page/lru_parts.h"
#include "port/cpu.h"
#include "port/memory.h"

static const struct lru_ops *const choices[] = {
    [POLICY_LRU_ADD_PER_CPU] = &lru_per_cpu_ops,
    [POLICY_LRU_ADD_ZONE_LOCK] = &lru_zone_ops,
};

struct lru *lru_create(struct frames *frames, enum policy_lru_add policy)
{
	struct lru *lru = port_memory_alloc(sizeof(*lru), PORT_NODE_FIRST_TOUCH, "struct lru");

	if (!lru)
		return NULL;
	lru->ops = choices[policy];
	lru->frames = frames;
	lru->places = lru->ops->places();
	if (lru->ops->create(lru)) {
		lru_destroy(lru);
		return NULL;
	}
	return lru;
}

void lru_destroy(struct lru *lru)
{
	if (!lru)
		return;
	lru->ops->destroy(lru);
	port_memory_free(lru, sizeof(*lru));
}

int lru_group_init(struct lru *lru, struct page_group *group, struct page_group *parent)
{
	group->parent = parent;
	group->lruvec = port_memory_alloc(lru->places * sizeof(struct lruvec *), PORT_NODE_FIRST_TOUCH,
					  "struct lruvec *");
	if (!group->lruvec)
		return -ENOMEM;
	for (unsigned i = 0; i < lru->places; i++) {
		struct lruvec *lruvec =
		    port_memory_alloc(sizeof(*lruvec), lru->ops->place_node(i), "struct lruvec");

		if (!lruvec) {
			lru_group_free(lru, group);
			return -ENOMEM;
		}
		for (unsigned list = 0; list < LRU_LISTS; list++)
			list_init(&lruvec->list[list]);
		spin_lock_init(&lruvec->own_lock, LOCK_RANK_LRU);
		lruvec->lock = lru->place ? &lru->place[i]->lock : &lruvec->own_lock;
		group->lruvec[i] = lruvec;
	}
	return 0;
}

void lru_group_free(struct lru *lru, struct page_group *group)
{
	for (unsigned i = 0; i < lru->places; i++)
		port_memory_free(group->lruvec[i], sizeof(struct lruvec));
	port_memory_free(group->lruvec, lru->places * sizeof(struct lruvec *));
}

/*
 * Takes the locks of both, the lower group's first. Nobody takes them in the other order, but the ranks
 * cannot say so: so the second is tried.
 */
static struct lruvec *lock_both(struct lruvec *from, const struct page_group *parent, unsigned place)
{
	for (;;) {
		struct lruvec *to = lruvec_of(parent, place);

		spin_lock(from->lock);
		if (from->lock == to->lock)
			return to;
		if (spin_trylock(to->lock)) {
			if (!atomic_load_explicit(&to->moved, memory_order_relaxed))
				return to;
			spin_unlock(to->lock);
		}
		spin_unlock(from->lock);
		port_cpu_relax();
	}
}

void lru_group_reparent(struct lru *lru, struct page_group *group)
{
	for (unsigned i = 0; i < lru->places; i++) {
		struct lruvec *from = group->lruvec[i], *to = lock_both(from, group->parent, i);

		/* The parent is live until the group has left it. */
		for (unsigned list = 0; list < LRU_LISTS; list++) {
			uint64_t pages = lru_pages_at(group, i, list);

			if (!pages)
				continue;
			/* Behind what is there: they were looked at less often there than their age says. */
			list_splice(to->list[list].prev, &from->list[list]);
			lru_count(to, list, (int64_t)pages);
			lru_count(from, list, -(int64_t)pages);
		}
		/* Release: who sees it sees that the group's lists are empty. */
		atomic_store_explicit(&from->moved, true, memory_order_release);
		if (to->lock != from->lock)
			spin_unlock(to->lock);
		spin_unlock(from->lock);
	}
}

void lru_add(struct lru *lru, struct page *page, enum lru_list list)
{
	invariant(page->group);
	page_set_flag(page, PG_lru);
	lru->ops->add(lru, page, page_has_flag(page, PG_file) ? list | LRU_FILE : list);
}

void lru_add_drain(struct lru *lru)
{
	lru->ops->drain(lru);
}

void lru_list_page(struct lruvec *lruvec, struct page *page, unsigned place, enum lru_list list)
{
	list_add(&lruvec->list[list], &page->lru);
	lru_count(lruvec, list, 1);
	atomic_store_explicit(&page->lru_state, lru_state_listed(place, list), memory_order_relaxed);
}

struct lruvec *lru_run_lock_at(struct lru_run *run, const struct page_group *group, unsigned place)
{
	for (;;) {
		struct lruvec *lruvec = lruvec_of(group, place);

		lru_run_take(run, lruvec->lock);
		if (likely(!atomic_load_explicit(&lruvec->moved, memory_order_relaxed)))
			return lruvec;
	}
}

struct lruvec *lru_run_lock(struct lru_run *run, struct page *page)
{
	struct lru *lru = run->lru;
	/* A place does not change; that the page is listed by now, the lock shows. */
	uint32_t state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);
	unsigned place = lru_state_place(state);
	struct lruvec *lruvec;

	if (state & LRU_STATE_WAITS) {
		if (lru_pagevec_remove(lru, page, state))
			return NULL;
		place = frame_node(lru->frames, page_to_pfn(lru->frames, page));
	}
	lruvec = lru_run_lock_at(run, page->group, place);
	invariant(lru_state_place(atomic_load_explicit(&page->lru_state, memory_order_relaxed)) == place);
	return lruvec;
}

void lru_unlist_page(struct lruvec *lruvec, struct page *page)
{
	uint32_t state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);

	list_remove(&page->lru);
	lru_count(lruvec, state & LRU_STATE_LIST, -1);
}

void lru_del(struct lru_run *run, struct page *page)
{
	struct lruvec *lruvec = lru_run_lock(run, page);
	uint32_t state;

	if (!lruvec)
		return;
	state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);
	if (!(state & LRU_STATE_ISOLATED))
		lru_unlist_page(lruvec, page);
	atomic_store_explicit(&page->lru_state, state | LRU_STATE_GONE, memory_order_relaxed);
}

void lru_run_end(struct lru_run *run)
{
	if (run->lock)
		spin_unlock(run->lock);
	run->lock = NULL;
}

void lru_del_page(struct lru *lru, struct page *page)
{
	struct lru_run run;

	lru_run_begin(&run, lru);
	lru_del(&run, page);
	lru_run_end(&run);
}

static int check_list(struct lru *lru, const struct page_group *group, unsigned place, enum lru_list list,
		      struct message *why)
{
	const struct lruvec *lruvec = group->lruvec[place];
	uint64_t pages = lru_pages_at(group, place, list), seen = 0;

	for (const struct list *link = lruvec->list[list].next; link != &lruvec->list[list] && seen <= pages;
	     link = link->next) {
		const struct page *page = container_of(link, struct page, lru);

		if (!page_refcount(page) || !page_has_flag(page, PG_lru) ||
		    atomic_load(&page->lru_state) != lru_state_listed(place, list) ||
		    lruvec_of(page->group, place) != lruvec)
			return message_set(why, -EINVAL,
					   "frame %" PRIu64 ": on LRU list %u of place %u, with %" PRIu32
					   " users and flags %#" PRIx32 ", or another's page",
					   page_to_pfn(lru->frames, page), list, place, page_refcount(page),
					   atomic_load(&page->flags));
		seen++;
	}
	if (seen != pages)
		return message_set(why, -EINVAL,
				   "LRU list %u of place %u counts %" PRIu64 " pages and has %s", list, place,
				   pages, seen > pages ? "more" : "fewer");
	return 0;
}

int lru_group_check(struct lru *lru, struct page_group *group, uint64_t *pages, struct message *why)
{
	int error = 0;

	for (unsigned place = 0; place < lru->places; place++)
		for (unsigned list = 0; list < LRU_LISTS && !error; list++) {
			error = check_list(lru, group, place, list, why);
			*pages += lru_pages_at(group, place, list);
		}
	return error;
}

uint64_t lru_waiting(struct lru *lru)
{
	return lru->ops->waiting(lru);
}
