/* SPDX-License-Identifier: MIT */
#include "mm/charge/charge.h"

#include <errno.h>

#include "mm/charge/group_walk.h"
#include "mm/charge/stock.h"
#include "port/cpu.h"
#include "port/rcu.h"
#include "port/trace.h"

/*
 * How often a charge of one page is tried at a limit whose stocks have been drained. An attempt can fail only
 * since another was being taken back (mm/charge/counter.h), or since others have charged ahead again; so one
 * does not decide.
 */
#define CHARGE_TRIES 5u

/* What may meet other CPUs, since it happens once for many pages. */
static const char charge_scope[] = "charge refill";

static struct sf_group *counter_group(struct counter *counter)
{
	return container_of(counter, struct sf_group, memory);
}

/*
 * Charges one page at the limit of `full`. Returns NULL, or who has no room. Where a lower limit has given
 * way a higher one can be in the way still; so there are as many limits to try as there are levels.
 */
static struct counter *charge_at_limit(struct sf_group *group, struct counter *full)
{
	const struct counter_ops *ops = group->groups->counter;

	for (unsigned tries = 0; tries < CHARGE_TRIES && full; tries++) {
		struct sf_group *last = counter_group(full);

		drain_all_stock(last);
		full = ops->try_charge(&group->memory, 1);
		if (full && counter_group(full) != last && group_is_below(last, counter_group(full)))
			tries = 0;
	}
	if (full)
		atomic_fetch_add_explicit(&counter_group(full)->limit_hits, 1, memory_order_relaxed);
	return full;
}

/* Returns NULL, or the group that has no room. */
static struct sf_group *try_charge(struct sf_group *group)
{
	struct counter *full;

	if (group->exempt || likely(consume_stock(group)))
		return NULL;
	port_scope_begin(charge_scope);
	full = group->groups->stock_ops->charge(group);
	if (unlikely(full))
		full = charge_at_limit(group, full);
	port_scope_end();
	return full ? counter_group(full) : NULL;
}

int mem_cgroup_charge(struct page *page, struct charge *charge)
{
	charge->over_limit = try_charge(charge->group);
	if (unlikely(charge->over_limit)) {
		frames_note_refusal(charge->group->groups->frames, &charge->over_limit->pages);
		return -ENOMEM;
	}
	page->group = &charge->group->pages;
	return 0;
}

struct page *charged_page_alloc(struct frames *frames, struct charge *charge)
{
	struct page *page = frame_alloc(frames);

	if (!page) {
		charge->over_limit = NULL;
		return NULL;
	}
	if (mem_cgroup_charge(page, charge)) {
		frame_free(frames, page);
		return NULL;
	}
	return page;
}

void uncharge_batch(struct sf_group *group, unsigned pages)
{
	if (group->exempt)
		return;
	/* The read section keeps the group, which may be gone with its last page, until we have looked. */
	port_rcu_read_lock();
	group->groups->counter->uncharge(&group->memory, pages);
	if (unlikely(atomic_load_explicit(&group->offline, memory_order_seq_cst)))
		group_release_unused(group);
	port_rcu_read_unlock();
}

void mem_cgroup_uncharge(struct page *page)
{
	struct sf_group *group = group_of(page->group);
	unsigned pages;

	page->group = NULL;
	if (group->exempt)
		return;
	pages = return_to_stock(group);
	if (!pages)
		return;
	port_scope_begin(charge_scope);
	uncharge_batch(group, pages);
	port_scope_end();
}

static void uncharge_list(struct list *pages)
{
	struct page_group *group = NULL;
	unsigned count = 0;

	for (struct list *link = pages->next; link != pages; link = link->next) {
		struct page *page = container_of(link, struct page, lru);

		if (page->group != group) {
			if (group)
				uncharge_batch(group_of(group), count);
			group = page->group;
			count = 0;
		}
		page->group = NULL;
		count++;
	}
	if (group)
		uncharge_batch(group_of(group), count);
}

void mem_cgroup_uncharge_list(struct list *pages)
{
	if (!list_empty(pages))
		uncharge_list(pages);
}

/* Keeps the structure of `group` if the space is in it still, or below. */
static bool keep_group(struct sf_group *_Atomic *source, struct sf_group *group)
{
	bool kept;

	port_rcu_read_lock();
	kept = group_is_below(rcu_dereference(source), group);
	if (kept)
		group_walk_get(group);
	port_rcu_read_unlock();
	return kept;
}

bool charge_make_room(struct groups *groups, struct sf_group *_Atomic *source, struct sf_group *over_limit,
		      unsigned *fruitless)
{
	bool keep = source && over_limit;
	int64_t pages;

	/* What others have freed since the last round counts too: so the last word has the charge. */
	if (!groups->make_room || *fruitless >= FRUITLESS_MAX)
		return false;
	/* It has moved to another group, whose limits are others. */
	if (keep && !keep_group(source, over_limit))
		return true;
	pages = groups->make_room(groups->reclaim, over_limit);
	if (keep)
		group_walk_end(over_limit);
	if (pages > 0)
		*fruitless = 0;
	else if (pages == -EAGAIN)
		*fruitless += FRUITLESS_WAIT;
	else if (pages == -EBUSY)
		*fruitless += FRUITLESS_BUSY;
	else
		*fruitless += FRUITLESS_ROUND;
	return true;
}

void mem_cgroup_out_of_memory(const struct charge *charge)
{
	struct sf_group *full = charge->over_limit;

	if (!full)
		return;
	port_rcu_read_lock();
	if (group_is_below(rcu_dereference(charge->source), full))
		atomic_fetch_add_explicit(&full->out_of_memory, 1, memory_order_relaxed);
	port_rcu_read_unlock();
}

void groups_cpu_idle(struct groups *groups)
{
	drain_stock(groups, port_cpu());
	lru_add_drain(groups->frames->lru);
}
