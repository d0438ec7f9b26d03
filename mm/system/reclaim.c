/* SPDX-License-Identifier: MIT */
/*
 * The entry points of reclaim, and the part of others that needs it.
 */
#include "mm/reclaim/reclaim.h"

#include "mm/system/internal.h"
#include "port/page.h"

bool system_make_room(struct sf_system *system, struct sf_space *space, unsigned *fruitless)
{
	struct page_group *group;

	return frames_take_refusal(system->frames, &group) &&
	       charge_make_room(system->groups, space ? &space->group : NULL, group ? group_of(group) : NULL,
				fruitless);
}

uint64_t sf_group_reclaim(struct sf_group *group, uint64_t bytes)
{
	struct sf_system *system = group->groups->system;
	uint64_t pages;

	system_enter(system);
	port_rcu_poll();
	pages = bytes < PORT_PAGE_SIZE ? 0 : reclaim_pages(system->reclaim, group, bytes >> PORT_PAGE_SHIFT);
	system_exit_call(system);
	return pages << PORT_PAGE_SHIFT;
}

void sf_reclaim_background(struct sf_system *system)
{
	system_enter(system);
	reclaim_background(system->reclaim);
	system_exit_call(system);
}

void sf_reclaim_stop(struct sf_system *system)
{
	reclaim_background_stop(system->reclaim);
}

void sf_reclaim_statistics(struct sf_system *system, struct sf_reclaim_statistics *statistics)
{
	system_enter(system);
	port_rcu_poll();
	reclaim_statistics(system->reclaim, statistics);
	system_exit(system);
}
