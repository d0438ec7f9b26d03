/* SPDX-License-Identifier: MIT */
/*
 * Whose pages are looked at, and how many. A pass goes over all groups of the round and over all places, and
 * scans of each the same share; so in the long run lists are aged evenly, whatever their length. A round ends
 * as soon as it has what it wants, often at the first list: the next one on the same CPU goes on there. A CPU
 * begins with its own place, so CPUs that reclaim at the same time mostly take different locks.
 */
#include "mm/charge/group_walk.h"
#include "mm/reclaim/internal.h"
#include "mm/swap/swap.h"
#include "port/cpu.h"

/* How the kinds are weighed where nothing comes back: Linux's vm.swappiness = 60, of 200. */
#define WEIGHT_ANONYMOUS 60u
#define WEIGHT_FILE      140u

/* Of the pages scanned lately those that still count. */
#define SCANNED_MAX 4096u

/* How many batches an active list that is too long may give before an inactive one is scanned. */
#define ACTIVE_BATCHES 4u

/* The lists of one group at one place. */
struct lists {
	struct round *round;
	struct sf_group *group;
	unsigned place;
	uint64_t active[RECLAIM_KINDS], inactive[RECLAIM_KINDS];
	uint64_t weight[RECLAIM_KINDS]; /* 0: not to be had */
};

static enum lru_list inactive_list(enum reclaim_kind kind)
{
	return kind == RECLAIM_FILE ? LRU_INACTIVE_FILE : LRU_INACTIVE;
}

static void read_sizes(struct lists *lists)
{
	for (unsigned kind = 0; kind < RECLAIM_KINDS; kind++) {
		enum lru_list list = inactive_list(kind);

		lists->inactive[kind] = lru_pages_at(&lists->group->pages, lists->place, list);
		lists->active[kind] = lru_pages_at(&lists->group->pages, lists->place, list | LRU_ACTIVE);
	}
}

static uint64_t all_pages(const struct lists *lists)
{
	uint64_t pages = 0;

	for (unsigned kind = 0; kind < RECLAIM_KINDS; kind++)
		pages += lists->active[kind] + lists->inactive[kind];
	return pages;
}

/* What came back long ago says little. */
static uint64_t read_cost(struct sf_group *group, enum reclaim_kind kind, uint64_t pages)
{
	uint64_t cost = atomic_load_explicit(&group->cost[kind], memory_order_relaxed);

	if (cost > pages) {
		atomic_fetch_sub_explicit(&group->cost[kind], cost / 2, memory_order_relaxed);
		cost -= cost / 2;
	}
	return cost;
}

/* As get_scan_count() of Linux 5.8 and later: neither kind gets less than a third of its due. */
static void weigh(struct lists *lists)
{
	uint64_t pages = all_pages(lists);
	uint64_t anonymous = read_cost(lists->group, RECLAIM_ANONYMOUS, pages);
	uint64_t file = read_cost(lists->group, RECLAIM_FILE, pages);
	uint64_t both = anonymous + file;
	bool stream = lists->inactive[RECLAIM_FILE] > lists->active[RECLAIM_FILE] &&
		      file < lists->inactive[RECLAIM_FILE] / 8;

	lists->weight[RECLAIM_ANONYMOUS] = WEIGHT_ANONYMOUS * (3 * both + 1) / (both + anonymous + 1);
	lists->weight[RECLAIM_FILE] = WEIGHT_FILE * (3 * both + 1) / (both + file + 1);
	if (lists->round->swap_full)
		lists->weight[RECLAIM_ANONYMOUS] = 0;
	/* Files that nobody reads twice are enough, as long as they are. */
	else if (stream && lists->round->shift == SCAN_SHIFT)
		lists->weight[RECLAIM_ANONYMOUS] = 0;
}

/* The kind that has been scanned least for what it weighs; RECLAIM_KINDS: there is nothing. */
static enum reclaim_kind choose(const struct lists *lists, const struct reclaim_cpu *own)
{
	enum reclaim_kind best = RECLAIM_KINDS;
	uint64_t most = 0;

	for (unsigned kind = 0; kind < RECLAIM_KINDS; kind++) {
		uint64_t pages = lists->active[kind] + lists->inactive[kind];
		uint64_t due = pages * lists->weight[kind] * (own->scanned[!kind] + 1);

		if (due > most) {
			best = kind;
			most = due;
		}
	}
	return best;
}

static void count_scanned(struct reclaim_cpu *own, enum reclaim_kind kind, unsigned pages)
{
	own->scanned[kind] += pages;
	if (own->scanned[kind] > SCANNED_MAX)
		for (unsigned i = 0; i < RECLAIM_KINDS; i++)
			own->scanned[i] /= 2;
}

/* Scans a batch of one kind. Returns how many pages that were. */
static unsigned scan_batch(struct lists *lists, enum reclaim_kind kind)
{
	struct round *round = lists->round;
	enum lru_list list = inactive_list(kind);
	struct page *pages[RECLAIM_BATCH];
	unsigned count;

	for (unsigned i = 0; i < ACTIVE_BATCHES && lists->inactive[kind] < lists->active[kind]; i++) {
		shrink_active(round, lists->group, lists->place, list | LRU_ACTIVE);
		read_sizes(lists);
	}
	count = lru_isolate(&lists->group->pages, lists->place, list, pages, RECLAIM_BATCH);
	round->isolated = round->isolated || count;
	if (count)
		shrink_pages(round, pages, count);
	read_sizes(lists);
	return count;
}

/* Scans a share of what is there. Returns false when the round is over before. */
static bool scan_place(struct round *round, struct sf_group *group, unsigned place, struct reclaim_cpu *own)
{
	struct lists lists = {.round = round, .group = group, .place = place};
	uint64_t share;

	read_sizes(&lists);
	share = (all_pages(&lists) + (UINT64_C(1) << round->shift) - 1) >> round->shift;
	while (own->done < share) {
		enum reclaim_kind kind;
		unsigned count;

		weigh(&lists);
		kind = choose(&lists, own);
		if (kind == RECLAIM_KINDS)
			break;
		count = scan_batch(&lists, kind);
		count_scanned(own, kind, count ? count : RECLAIM_BATCH);
		own->done += count ? count : RECLAIM_BATCH;
		if (round_is_over(round))
			return false;
	}
	own->done = 0;
	return true;
}

/* All places, from where the last round has stopped on. */
static bool scan_group(struct round *round, struct sf_group *group, struct reclaim_cpu *own)
{
	unsigned places = round->reclaim->config.frames->lru->places, cpu = port_cpu();

	for (unsigned i = 0; i < places; i++) {
		if (!scan_place(round, group, (cpu + own->step) % places, own))
			return false;
		own->step = (own->step + 1) % places;
	}
	return true;
}

/* Whether it, or one above it and below the round's top, uses no more than it is guaranteed. */
static bool within_low(const struct sf_group *group, const struct sf_group *top)
{
	for (; group && group != top; group = group->parent) {
		uint64_t low = atomic_load_explicit(&group->low, memory_order_relaxed);

		if (low && atomic_load_explicit(&group->memory.usage, memory_order_relaxed) <= low)
			return true;
	}
	return false;
}

void scan_groups(struct round *round)
{
	struct reclaim_cpu *own = percpu_this(&round->reclaim->cpu);
	uint64_t first = own->group ? own->group : GROUP_WALK_START, number = first;
	bool wrapped = false;

	for (;;) {
		struct sf_group *group = group_walk_next(round->top, &number);
		bool goes_on = true;

		if (!group && !wrapped) {
			wrapped = true;
			number = GROUP_WALK_START;
			continue;
		}
		if (!group)
			return;
		if (wrapped && number < first) {
			group_walk_end(group);
			return;
		}
		if (round->spare_low && within_low(group, round->top))
			round->spared = true;
		else
			goes_on = scan_group(round, group, own);
		group_walk_end(group);
		own->group = goes_on ? number : number + 1;
		if (!goes_on)
			return;
	}
}
