/* SPDX-License-Identifier: MIT */
/*
 * The entry points for memory groups.
 */
#include <errno.h>

#include "mm/reclaim/reclaim.h"
#include "mm/system/internal.h"
#include "port/page.h"

/* So often in a row may reclaim free nothing before a limit is not lowered. */
#define LIMIT_TRIES 3u

static struct sf_system *enter_group(struct sf_group *group)
{
	struct sf_system *system = group->groups->system;

	system_enter(system);
	port_rcu_poll();
	return system;
}

struct sf_group *sf_group_root(struct sf_system *system)
{
	return system->groups->root;
}

int sf_group_create(struct sf_group *parent, struct sf_group **group)
{
	struct sf_system *system = enter_group(parent);

	*group = group_create(parent);
	system_exit(system);
	return *group ? 0 : -ENOMEM;
}

int sf_group_destroy(struct sf_group *group)
{
	struct sf_system *system = enter_group(group);
	int error = group->parent ? group_destroy(group) : -EINVAL;

	system_exit(system);
	return error;
}

static uint64_t pages_of(uint64_t bytes)
{
	return bytes == SF_GROUP_UNLIMITED ? COUNTER_UNLIMITED : bytes >> PORT_PAGE_SHIFT;
}

static uint64_t bytes_of(uint64_t pages)
{
	return pages == COUNTER_UNLIMITED ? SF_GROUP_UNLIMITED : pages << PORT_PAGE_SHIFT;
}

/* Returns how many pages the group has less, or 1 if it has room. */
static uint64_t make_way(struct sf_system *system, struct sf_group *group, uint64_t limit)
{
	uint64_t usage = system->groups->counter->read(&group->memory);

	return usage > limit ? reclaim_pages(system->reclaim, group, usage - limit) : 1;
}

int sf_group_set_limit(struct sf_group *group, uint64_t bytes)
{
	struct sf_system *system = enter_group(group);
	uint64_t pages = pages_of(bytes);
	unsigned fruitless = 0;
	int error;

	/* What is too much is reclaimed first. What others charge meanwhile can make that vain. */
	while ((error = group_set_limit(group, pages)) == -EBUSY && fruitless < LIMIT_TRIES)
		fruitless = make_way(system, group, pages) ? 0 : fruitless + 1;
	system_exit(system);
	return error;
}

void sf_group_set_low(struct sf_group *group, uint64_t bytes)
{
	atomic_store_explicit(&group->low, pages_of(bytes), memory_order_relaxed);
}

void sf_group_statistics(struct sf_group *group, struct sf_group_statistics *statistics)
{
	struct sf_system *system = enter_group(group);
	struct counter *counter = &group->memory;
	uint64_t usage = group->groups->counter->read(counter);
	uint64_t limit = atomic_load_explicit(&counter->limit, memory_order_relaxed);

	*statistics = (struct sf_group_statistics){
	    .limit = bytes_of(limit),
	    .low = bytes_of(atomic_load_explicit(&group->low, memory_order_relaxed)),
	    /* What is beyond the limit is an attempt that is being taken back. */
	    .usage = (usage < limit ? usage : limit) << PORT_PAGE_SHIFT,
	    .peak = atomic_load_explicit(&counter->watermark, memory_order_relaxed) << PORT_PAGE_SHIFT,
	    .failures = atomic_load_explicit(&counter->failures, memory_order_relaxed),
	    .limit_hits = atomic_load_explicit(&group->limit_hits, memory_order_relaxed),
	    .out_of_memory = atomic_load_explicit(&group->out_of_memory, memory_order_relaxed),
	};
	system_exit(system);
}

void sf_space_set_group(struct sf_space *space, struct sf_group *group)
{
	struct sf_system *system = system_enter_call(space);

	space_set_group(space, group);
	system_exit_call(system);
}
