/* SPDX-License-Identifier: MIT */
#include "mm/swap/area.h"

#include <errno.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/trace.h"

/* Every free slot starts in its cluster's word, and every cluster in `whole`. */
static void fill(struct swap_area *area)
{
	for (uint64_t i = 0; i < area->clusters; i++)
		atomic_init(&area->cluster[i].free, swap_cluster_slots(area, i));
	for (uint64_t i = 0; i < area->groups; i++) {
		uint64_t rest = area->clusters - i * SWAP_GROUP_CLUSTERS;

		atomic_init(&area->group[i].whole,
			    rest < SWAP_GROUP_CLUSTERS ? (UINT64_C(1) << rest) - 1 : ~UINT64_C(0));
	}
	for (unsigned i = 0; i < port_cpu_count(); i++) {
		struct swap_cpu *cpu = percpu_of(&area->cpu, i);

		spin_lock_init(&cpu->lock, LOCK_RANK_SWAP_CPU);
		cpu->at = area->groups * i / port_cpu_count();
		cpu->cluster = cpu->at * SWAP_GROUP_CLUSTERS;
	}
}

struct swap_area *swap_area_create(struct swap *swap, unsigned number, const struct swap_area_config *config)
{
	struct swap_area *area = port_memory_alloc(sizeof(*area), PORT_NODE_FIRST_TOUCH, "struct swap_area");

	if (!area)
		return NULL;
	area->swap = swap;
	area->number = number;
	area->priority = config->priority;
	area->discard = config->discard;
	area->backing = config->backing;
	area->slots = config->backing->bytes >> PORT_PAGE_SHIFT;
	area->clusters = (area->slots + SWAP_CLUSTER_SLOTS - 1) / SWAP_CLUSTER_SLOTS;
	area->groups = (area->clusters + SWAP_GROUP_CLUSTERS - 1) / SWAP_GROUP_CLUSTERS;
	area->slot =
	    port_memory_alloc(area->slots * sizeof(*area->slot), PORT_NODE_FIRST_TOUCH, "struct swap_slot");
	area->cluster = port_memory_alloc(area->clusters * sizeof(*area->cluster), PORT_NODE_FIRST_TOUCH,
					  "struct swap_cluster");
	area->group = port_memory_alloc(area->groups * sizeof(*area->group), PORT_NODE_FIRST_TOUCH,
					"struct swap_group");
	if (!area->slot || !area->cluster || !area->group ||
	    percpu_alloc(&area->cpu, sizeof(struct swap_cpu), "struct swap_cpu")) {
		swap_area_free(area);
		return NULL;
	}
	fill(area);
	return area;
}

void swap_area_free(struct swap_area *area)
{
	percpu_free(&area->cpu);
	port_memory_free(area->slot, area->slots * sizeof(*area->slot));
	port_memory_free(area->cluster, area->clusters * sizeof(*area->cluster));
	port_memory_free(area->group, area->groups * sizeof(*area->group));
	port_memory_free(area, sizeof(*area));
}

/* How many slots more, or fewer, a CPU has taken than given before it says so. */
#define USED_BATCH 64

/* Counts a slot that comes into use or goes; now and then for all to see. */
static void count_used(struct swap_area *area, int64_t change)
{
	struct swap_cpu *own = percpu_this(&area->cpu);

	swap_count(area, SWAP_USED, change);
	own->untold += change;
	if (own->untold < USED_BATCH && own->untold > -USED_BATCH)
		return;
	port_scope_begin("swap refill");
	atomic_fetch_add_explicit(&area->used, own->untold, memory_order_relaxed);
	port_scope_end();
	own->untold = 0;
}

/* Takes one of the slots that are the CPU's; its lock is held. */
static bool take_locked(struct swap_cpu *cpu, uint64_t *slot)
{
	if (!cpu->mask)
		return false;
	*slot = cpu->cluster * SWAP_CLUSTER_SLOTS + (unsigned)__builtin_ctzll(cpu->mask);
	cpu->mask &= cpu->mask - 1;
	return true;
}

/* Takes all free slots of a cluster; its lock is held. Acquire: who freed them is done with them. */
static bool take_cluster(struct swap_area *area, struct swap_cpu *own, uint64_t cluster)
{
	own->mask = atomic_exchange_explicit(&area->cluster[cluster].free, 0, memory_order_acq_rel);
	own->cluster = cluster;
	return own->mask != 0;
}

/* Takes a marked cluster of a group. */
static bool refill_from(struct swap_area *area, struct swap_cpu *own, uint64_t group, _Atomic uint64_t *marks)
{
	uint64_t set;

	while ((set = atomic_load_explicit(marks, memory_order_acquire))) {
		unsigned bit = (unsigned)__builtin_ctzll(set);
		uint64_t old = atomic_fetch_and_explicit(marks, ~(UINT64_C(1) << bit), memory_order_acq_rel);

		if ((old >> bit & 1) && take_cluster(area, own, group * SWAP_GROUP_CLUSTERS + bit)) {
			own->at = group;
			return true;
		}
	}
	return false;
}

/* All groups, first for wholly free clusters, from where the CPU found the last one. */
static bool refill_from_groups(struct swap_area *area, struct swap_cpu *own)
{
	uint64_t at = own->at;

	for (uint64_t i = 0; i < 2 * area->groups; i++) {
		struct swap_group *group = &area->group[at];

		if (refill_from(area, own, at, i < area->groups ? &group->whole : &group->some))
			return true;
		at = at + 1 < area->groups ? at + 1 : 0;
	}
	return false;
}

/* What has become free in the CPU's last cluster is nearest to what it wrote last. */
static bool refill(struct swap_area *area, struct swap_cpu *own)
{
	bool found;

	port_scope_begin("swap refill");
	found = (atomic_load_explicit(&area->cluster[own->cluster].free, memory_order_relaxed) &&
		 take_cluster(area, own, own->cluster)) ||
		refill_from_groups(area, own);
	port_scope_end();
	return found;
}

static bool take_from_others(struct swap_area *area, uint64_t *slot)
{
	unsigned cpus = port_cpu_count();

	for (unsigned i = 1; i < cpus; i++) {
		struct swap_cpu *other = percpu_of(&area->cpu, (port_cpu() + i) % cpus);
		bool taken;

		spin_lock(&other->lock);
		taken = take_locked(other, slot);
		spin_unlock(&other->lock);
		if (taken)
			return true;
	}
	return false;
}

int swap_area_take(struct swap_area *area, uint64_t *slot)
{
	struct swap_cpu *own = percpu_this(&area->cpu);
	bool taken;

	spin_lock(&own->lock);
	taken = take_locked(own, slot) || (refill(area, own) && take_locked(own, slot));
	spin_unlock(&own->lock);
	if (!taken) {
		port_scope_begin("swap refill");
		taken = take_from_others(area, slot);
		port_scope_end();
	}
	if (!taken)
		return -ENOSPC;
	count_used(area, 1);
	return 0;
}

void swap_area_give(struct swap_area *area, uint64_t slot, bool bad)
{
	uint64_t cluster = slot / SWAP_CLUSTER_SLOTS, bit = UINT64_C(1) << slot % SWAP_CLUSTER_SLOTS, old;
	uint64_t mark = UINT64_C(1) << cluster % SWAP_GROUP_CLUSTERS;
	struct swap_group *group = &area->group[cluster / SWAP_GROUP_CLUSTERS];
	bool first, whole;

	count_used(area, -1);
	if (bad) {
		swap_count(area, SWAP_BAD, 1);
		return;
	}
	/* A page that cannot be given back stays the backing's until the slot is written again. */
	if (area->discard)
		area->backing->ops->punch(area->backing, slot << PORT_PAGE_SHIFT, PORT_PAGE_SIZE);
	old = atomic_fetch_or_explicit(&area->cluster[cluster].free, bit, memory_order_acq_rel);
	invariant(!(old & bit));
	first = !old;
	whole = (old | bit) == swap_cluster_slots(area, cluster);
	if (!first && !whole)
		return;
	port_scope_begin("swap refill");
	if (first)
		atomic_fetch_or_explicit(&group->some, mark, memory_order_acq_rel);
	if (whole) {
		atomic_fetch_or_explicit(&group->whole, mark, memory_order_acq_rel);
	}
	port_scope_end();
}
