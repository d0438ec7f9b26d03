/* SPDX-License-Identifier: MIT */
/*
 * The check of all slots while nothing runs: each is free in exactly one place or in use in none; its
 * references are the entries that name it; its page knows it; and the sums of what CPUs count are what is
 * there.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/swap/area.h"
#include "port/memory.h"

static struct swap_area *area_at(const struct swap *swap, unsigned number)
{
	return number < SWAP_AREAS_MAX ? atomic_load_explicit(&swap->area[number], memory_order_acquire)
				       : NULL;
}

static void end(struct swap *swap)
{
	for (unsigned i = 0; area_at(swap, i); i++) {
		struct swap_area *area = area_at(swap, i);

		port_memory_free(area->checked, area->slots * sizeof(*area->checked));
		area->checked = NULL;
	}
}

int swap_check_begin(struct swap *swap)
{
	for (unsigned i = 0; area_at(swap, i); i++) {
		struct swap_area *area = area_at(swap, i);

		area->checked = port_memory_alloc(area->slots * sizeof(*area->checked), PORT_NODE_FIRST_TOUCH,
						  "uint32_t");
		if (!area->checked) {
			end(swap);
			return -ENOMEM;
		}
	}
	return 0;
}

void swap_check_user(struct swap *swap, struct swap_entry entry)
{
	swap_area_of(swap, entry)->checked[swap_entry_slot(entry)]++;
}

/* In how many places a slot is free: its cluster's word, and CPUs' own. */
static unsigned free_places(const struct swap_area *area, uint64_t slot)
{
	uint64_t cluster = slot / SWAP_CLUSTER_SLOTS, bit = slot % SWAP_CLUSTER_SLOTS;
	unsigned places = atomic_load_explicit(&area->cluster[cluster].free, memory_order_relaxed) >> bit & 1;

	for (unsigned i = 0; i < port_cpu_count(); i++) {
		const struct swap_cpu *cpu = percpu_of(&area->cpu, i);

		places += cpu->cluster == cluster && (cpu->mask >> bit & 1);
	}
	return places;
}

static int check_cached(const struct swap_area *area, uint64_t slot, uint64_t pfn, struct message *why)
{
	const struct frames *frames = area->swap->frames;
	const struct page *page = pfn < frames->own ? pfn_to_page(frames, pfn) : NULL;

	if (!page || !page_refcount(page) || !page_has_flag(page, PG_swapcache) ||
	    page_swap_entry(page).value != swap_entry(area->number, slot).value)
		return message_set(why, -EINVAL,
				   "slot %" PRIu64 " of swap area %u has page %" PRIu64
				   ", which does not know it",
				   slot, area->number, pfn);
	return 0;
}

static int check_slot(const struct swap_area *area, uint64_t slot, int64_t *sum, struct message *why)
{
	uint64_t word = atomic_load_explicit(&area->slot[slot].word, memory_order_relaxed);
	uint64_t pfn = word & SLOT_PFN_MASK, count = (word & SLOT_COUNT_MASK) / SLOT_COUNT_ONE;
	unsigned places = free_places(area, slot);

	if (word & SLOT_LOCKED)
		return message_set(why, -EINVAL, "slot %" PRIu64 " of swap area %u is locked", slot,
				   area->number);
	if (count != area->checked[slot])
		return message_set(why, -EINVAL,
				   "slot %" PRIu64 " of swap area %u has %" PRIu64 " references and %u users",
				   slot, area->number, count, area->checked[slot]);
	if (places != !word)
		return message_set(why, -EINVAL,
				   "slot %" PRIu64 " of swap area %u is free in %u places, in use: %d", slot,
				   area->number, places, word != 0);
	sum[SWAP_USED] += (word & ~SLOT_BAD) != 0;
	sum[SWAP_BAD] += word == SLOT_BAD;
	sum[SWAP_CACHED] += pfn != 0;
	return pfn ? check_cached(area, slot, pfn, why) : 0;
}

/* Whoever looks for clusters finds each with free slots. */
static int check_clusters(const struct swap_area *area, struct message *why)
{
	for (uint64_t i = 0; i < area->clusters; i++) {
		const struct swap_group *group = &area->group[i / SWAP_GROUP_CLUSTERS];
		uint64_t marks = atomic_load_explicit(&group->whole, memory_order_relaxed) |
				 atomic_load_explicit(&group->some, memory_order_relaxed);
		uint64_t free = atomic_load_explicit(&area->cluster[i].free, memory_order_relaxed);

		if (free && !(marks >> i % SWAP_GROUP_CLUSTERS & 1))
			return message_set(why, -EINVAL,
					   "cluster %" PRIu64 " of swap area %u has free slots that "
					   "nobody finds",
					   i, area->number);
	}
	return 0;
}

static int check_area(const struct swap_area *area, uint64_t *cached, struct message *why)
{
	int64_t sum[SWAP_COUNTERS] = {0}, counted[SWAP_COUNTERS] = {0};
	int64_t used = atomic_load_explicit(&area->used, memory_order_relaxed);
	int error = check_clusters(area, why);

	for (uint64_t slot = 0; slot < area->slots && !error; slot++)
		error = check_slot(area, slot, sum, why);
	if (error)
		return error;
	for (unsigned i = 0; i < port_cpu_count(); i++) {
		const struct swap_cpu *cpu = percpu_of(&area->cpu, i);

		used += cpu->untold;
		for (unsigned j = 0; j < SWAP_COUNTERS; j++)
			counted[j] += atomic_load_explicit(&cpu->count[j], memory_order_relaxed);
	}
	if (used != counted[SWAP_USED])
		return message_set(
		    why, -EINVAL, "swap area %u is said to have %" PRId64 " slots in use and counts %" PRId64,
		    area->number, used, counted[SWAP_USED]);
	for (unsigned j = SWAP_USED; j <= SWAP_CACHED; j++)
		if (sum[j] != counted[j])
			return message_set(
			    why, -EINVAL, "swap area %u counts %" PRId64 " slots of kind %u and has %" PRId64,
			    area->number, counted[j], j, sum[j]);
	*cached += (uint64_t)sum[SWAP_CACHED];
	return 0;
}

int swap_check_end(struct swap *swap, uint64_t *cached, struct message *why)
{
	int error = 0;

	*cached = 0;
	for (unsigned i = 0; area_at(swap, i) && !error; i++)
		error = check_area(area_at(swap, i), cached, why);
	end(swap);
	return error;
}
