/* SPDX-License-Identifier: MIT */
/*
 * The lists, whatever their places.
 */
#include "mm/page/lru.h"

#include <errno.h>
#include <inttypes.h>

#include "mm/page/frames.h"
#include "mm/page/lru_parts.h"
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
	lru->place = port_memory_alloc(lru->places * sizeof(struct lru_place *), PORT_NODE_FIRST_TOUCH,
				       "struct lru_place *");
	if (!lru->place || lru->ops->create(lru))
		goto fail;
	for (unsigned i = 0; i < lru->places; i++) {
		lru->place[i] =
		    port_memory_alloc(sizeof(struct lru_place), lru->ops->place_node(i), "struct lru_place");
		if (!lru->place[i])
			goto fail;
		spin_lock_init(&lru->place[i]->lock, LOCK_RANK_LRU);
	}
	return lru;
fail:
	lru_destroy(lru);
	return NULL;
}

void lru_destroy(struct lru *lru)
{
	if (!lru)
		return;
	if (lru->place)
		for (unsigned i = 0; i < lru->places; i++)
			port_memory_free(lru->place[i], sizeof(struct lru_place));
	port_memory_free(lru->place, lru->places * sizeof(struct lru_place *));
	percpu_free(&lru->pagevecs);
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

/* Where the pages of `group` are. The place's lock is held. */
static struct lruvec *lruvec_of(const struct page_group *group, unsigned place)
{
	while (unlikely(group->lruvec[place]->moved))
		group = group->parent;
	return group->lruvec[place];
}

void lru_group_reparent(struct lru *lru, struct page_group *group)
{
	for (unsigned i = 0; i < lru->places; i++) {
		struct lruvec *from = group->lruvec[i], *to;

		spin_lock(&lru->place[i]->lock);
		/* The parent is live until the group has left it. */
		to = group->parent->lruvec[i];
		for (unsigned list = 0; list < LRU_LISTS; list++) {
			if (list_empty(&from->list[list]))
				continue;
			/* Behind what is there: they were looked at less often there than their age says. */
			list_splice(to->list[list].prev, &from->list[list]);
			to->pages[list] += from->pages[list];
			from->pages[list] = 0;
		}
		from->moved = true;
		spin_unlock(&lru->place[i]->lock);
	}
}

void lru_add(struct lru *lru, struct page *page, enum lru_list list)
{
	invariant(page->group);
	page_set_flag(page, PG_lru);
	lru->ops->add(lru, page, list);
}

void lru_add_drain(struct lru *lru)
{
	lru->ops->drain(lru);
}

void lru_list_page(struct page *page, unsigned place, enum lru_list list)
{
	struct lruvec *lruvec = lruvec_of(page->group, place);

	list_add(&lruvec->list[list], &page->lru);
	lruvec->pages[list]++;
	atomic_store_explicit(&page->lru_state, lru_state_listed(place, list), memory_order_relaxed);
}

void lru_del(struct lru_run *run, struct page *page)
{
	struct lru *lru = run->lru;
	/* A place does not change; that the page is listed by now, the lock shows. */
	uint32_t state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);
	unsigned place = state >> LRU_PLACE_SHIFT;
	struct lruvec *lruvec;
	enum lru_list list;

	if (state & LRU_STATE_WAITS) {
		if (lru_pagevec_remove(lru, page, state))
			return;
		place = frame_node(lru->frames, page_to_pfn(lru->frames, page));
	}
	if (run->lock != &lru->place[place]->lock) {
		lru_run_end(run);
		run->lock = &lru->place[place]->lock;
		spin_lock(run->lock);
	}
	state = atomic_load_explicit(&page->lru_state, memory_order_relaxed);
	invariant(state >> LRU_PLACE_SHIFT == place);
	list = state & LRU_STATE_LIST;
	lruvec = lruvec_of(page->group, place);
	list_remove(&page->lru);
	lruvec->pages[list]--;
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
	uint64_t seen = 0;

	for (const struct list *link = lruvec->list[list].next;
	     link != &lruvec->list[list] && seen <= lruvec->pages[list]; link = link->next) {
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
	if (seen != lruvec->pages[list])
		return message_set(why, -EINVAL,
				   "LRU list %u of place %u counts %" PRIu64 " pages and has %s", list, place,
				   lruvec->pages[list], seen > lruvec->pages[list] ? "more" : "fewer");
	return 0;
}

int lru_group_check(struct lru *lru, struct page_group *group, uint64_t *pages, struct message *why)
{
	int error = 0;

	for (unsigned place = 0; place < lru->places; place++)
		for (unsigned list = 0; list < LRU_LISTS && !error; list++) {
			error = check_list(lru, group, place, list, why);
			*pages += group->lruvec[place]->pages[list];
		}
	return error;
}

uint64_t lru_waiting(struct lru *lru)
{
	return lru->ops->waiting(lru);
}
