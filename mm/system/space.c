/* SPDX-License-Identifier: MIT */
/*
 * The entry points that make, unmake and describe spaces.
 */
#include <errno.h>

#include "mm/space/maps.h"
#include "mm/space/vma_cache.h"
#include "mm/system/internal.h"

static void link_space(struct sf_system *system, struct sf_space *space)
{
	struct space_list *list = percpu_this(&system->space_lists);

	space->made_on = port_cpu();
	spin_lock(&list->lock);
	space->next_space = list->first;
	space->link = &list->first;
	if (space->next_space)
		space->next_space->link = &space->next_space;
	list->first = space;
	spin_unlock(&list->lock);
}

static uint64_t space_faults(const struct sf_space *space)
{
	uint64_t faults = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct space_cpu *counts;

		/* A process mostly ran on few, and the others' counts are far away. */
		if (!translations_noted(&space->table.translations, cpu))
			continue;
		counts = percpu_of(&space->cpu, cpu);
		faults += atomic_load_explicit(&counts->minor_faults, memory_order_relaxed) +
			  atomic_load_explicit(&counts->major_faults, memory_order_relaxed);
	}
	return faults;
}

static void unlink_space(struct sf_system *system, struct sf_space *space)
{
	struct space_list *list = percpu_of(&system->space_lists, space->made_on);
	uint64_t faults = space_faults(space);

	spin_lock(&list->lock);
	*space->link = space->next_space;
	if (space->next_space)
		space->next_space->link = space->link;
	list->past_faults += faults;
	spin_unlock(&list->lock);
}

struct sf_space *system_next_space(const struct sf_system *system, const struct sf_space *space)
{
	unsigned cpu = space ? space->made_on + 1 : 0;
	struct sf_space *next = space ? space->next_space : NULL;

	for (; !next && cpu < port_cpu_count(); cpu++)
		next = ((struct space_list *)percpu_of(&system->space_lists, cpu))->first;
	return next;
}

static int create_space(struct sf_system *system, struct sf_group *group, struct sf_space **space)
{
	unsigned fruitless = 0;

	system_enter(system);
	port_rcu_poll();
	system_forget_refusal(system);
	do
		*space = space_create(&system->parts, group);
	while (!*space && system_make_room(system, NULL, &fruitless));
	if (*space)
		link_space(system, *space);
	system_exit(system);
	return *space ? 0 : -ENOMEM;
}

int sf_space_create(struct sf_system *system, struct sf_space **space)
{
	return create_space(system, system->groups->root, space);
}

int sf_space_create_in(struct sf_group *group, struct sf_space **space)
{
	return create_space(group->groups->system, group, space);
}

int sf_space_fork(struct sf_space *parent, struct sf_space **child)
{
	struct sf_system *system = system_enter_call(parent);
	unsigned fruitless = 0;

	system_forget_refusal(system);
	do
		*child = space_fork(parent);
	while (!*child && system_make_room(system, parent, &fruitless));
	if (*child)
		link_space(system, *child);
	system_exit_call(system);
	return *child ? 0 : -ENOMEM;
}

void sf_space_destroy(struct sf_space *space)
{
	struct sf_system *system = system_enter_call(space);

	unlink_space(system, space);
	space_destroy(space);
	system_exit_call(system);
}

int sf_set_limit(struct sf_space *space, enum sf_limit limit, uint64_t value)
{
	struct sf_system *system = system_enter_call(space);
	int error = 0;

	down_write(&space->lock);
	switch (limit) {
	case SF_LIMIT_ADDRESS_SPACE:
		space->limit_pages = value >> PORT_PAGE_SHIFT;
		break;
	case SF_LIMIT_LOCKED:
		space->limit_locked = value;
		break;
	case SF_LIMIT_MAP_COUNT:
		space->limit_maps = value;
		break;
	default:
		error = -EINVAL;
	}
	up_write(&space->lock);
	system_exit(system);
	return error;
}

int sf_next_mapping(struct sf_space *space, uint64_t address, struct sf_mapping *mapping)
{
	struct sf_system *system = system_enter_call(space);
	int error = space_next_mapping(space, address, mapping);

	system_exit(system);
	return error;
}

void sf_space_statistics(struct sf_space *space, struct sf_space_statistics *statistics)
{
	struct sf_system *system = system_enter_call(space);

	space_statistics(space, statistics);
	system_exit(system);
}

/* Of the spaces of one list, and of those that were in it. */
static void add_spaces(struct space_list *list, struct sf_system_statistics *statistics)
{
	spin_lock(&list->lock);
	statistics->faults += list->past_faults;
	for (const struct sf_space *space = list->first; space; space = space->next_space) {
		statistics->faults += space_faults(space);
	}
	spin_unlock(&list->lock);
}

/* What waits for grace periods: VMAs, nodes of their trees, page tables and pages of shared memory. */
static void sum_retired(const struct sf_system *system, struct sf_system_statistics *statistics)
{
	int64_t bytes = 0, peak = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct frame_counts *counts = percpu_of(&system->frames->counts, cpu);

		retired_sum(&counts->retired, &bytes, &peak);
	}
	vma_cache_retired(system->parts.vma_cache, &bytes, &peak);
	vma_node_cache_retired(system->parts.node_cache, &bytes, &peak);
	statistics->retired_bytes = bytes > 0 ? (uint64_t)bytes : 0;
	statistics->peak_retired_bytes = (uint64_t)peak;
}

void sf_system_statistics(struct sf_system *system, struct sf_system_statistics *statistics)
{
	const struct frames *frames = system->frames;

	system_enter(system);
	port_rcu_poll();
	*statistics = (struct sf_system_statistics){
	    .frames = frames->own,
	    .free_frames = frames_free_count(frames),
	    .anonymous_frames = frames_counted(frames, FRAMES_ANONYMOUS),
	    .table_frames = frames_counted(frames, FRAMES_TABLE),
	    .pinned_frames = frames_counted(frames, FRAMES_PINNED),
	    .shared_frames = frames_counted(frames, FRAMES_SHARED),
	    .file_frames = frames_counted(frames, FRAMES_FILE),
	    .index_frames = frames_counted(frames, FRAMES_INDEX),
	    .frames_allocated = frames_counted(frames, FRAMES_ALLOCATED),
	    .frames_freed = frames_counted(frames, FRAMES_FREED),
	    .shootdowns = frames_counted(frames, FRAMES_FLUSHES),
	};
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct system_cpu *counts = percpu_of(&system->cpu, cpu);

		statistics->copies_on_write +=
		    atomic_load_explicit(&counts->copies_on_write, memory_order_relaxed);
		statistics->reuses += atomic_load_explicit(&counts->reuses, memory_order_relaxed);
		statistics->zero_page_maps +=
		    atomic_load_explicit(&counts->zero_page_maps, memory_order_relaxed);
	}
	sum_retired(system, statistics);
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
		add_spaces(percpu_of(&system->space_lists, cpu), statistics);
	system_exit(system);
}
