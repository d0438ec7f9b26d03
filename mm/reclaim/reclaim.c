/* SPDX-License-Identifier: MIT */
#include "mm/reclaim/reclaim.h"

#include <errno.h>

#include "mm/object/write_back.h"
#include "mm/page/page_wait.h"
#include "mm/reclaim/internal.h"
#include "mm/swap/swap.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/rcu.h"
#include "port/trace.h"
#include "softfault.h"

/* Pages of files that are written back at a time when reclaim meets dirty ones. */
#define WRITE_BACK_PAGES 256u

/* From this pass on nothing else has helped. */
#define LAST_RESORT_SHIFT 1u

static const char reclaim_scope[] = "reclaim";

/* Of all frames, what the background leaves free beyond what CPUs hold back: a 64th, and twice that. */
#define MARK_SHARE 64u

static int64_t make_room(struct reclaim *reclaim, struct sf_group *group);

struct reclaim *reclaim_create(const struct reclaim_config *config)
{
	struct reclaim *reclaim =
	    port_memory_alloc(sizeof(*reclaim), PORT_NODE_FIRST_TOUCH, "struct reclaim");
	uint64_t held = frames_held_back(config->frames), own = config->frames->own;

	if (!reclaim)
		return NULL;
	if (percpu_alloc(&reclaim->cpu, sizeof(struct reclaim_cpu), "struct reclaim_cpu")) {
		port_memory_free(reclaim, sizeof(*reclaim));
		return NULL;
	}
	reclaim->config = *config;
	reclaim->low = (held < own / 4 ? held : own / 4) + own / MARK_SHARE;
	reclaim->high = reclaim->low + own / MARK_SHARE;
	config->groups->reclaim = reclaim;
	config->groups->make_room = make_room;
	return reclaim;
}

void reclaim_destroy(struct reclaim *reclaim)
{
	if (!reclaim)
		return;
	reclaim->config.groups->make_room = NULL;
	percpu_free(&reclaim->cpu);
	port_memory_free(reclaim, sizeof(*reclaim));
}

/* Passes, each over twice as much as the one before: all of them together over everything about twice. */
static void make_passes(struct round *round)
{
	bool written = true;

	for (round->shift = SCAN_SHIFT;; round->shift--) {
		round->dirty = 0;
		round->write_alone = round->shift <= LAST_RESORT_SHIFT || !written;
		scan_groups(round);
		if (round_is_over(round) || !round->shift)
			return;
		if (round->dirty)
			written = objects_write_back(round->reclaim->config.objects, WRITE_BACK_PAGES) != 0;
	}
}

static void run(struct round *round)
{
	port_scope_begin(reclaim_scope);
	reclaim_begin_work(round);
	round->swap_full = !swap_any(round->reclaim->config.swap);
	round->spare_low = true;
	lru_add_drain(round->reclaim->config.frames->lru);
	make_passes(round);
	if (round->spared && !round->freed) {
		round->spare_low = false;
		make_passes(round);
	}
	round_free_waiting(round);
	reclaim_end_work(round);
	port_scope_end();
}

uint64_t reclaim_pages(struct reclaim *reclaim, struct sf_group *group, uint64_t target)
{
	struct round round = {
	    .reclaim = reclaim, .top = group ? group : reclaim->config.groups->root, .target = target};

	run(&round);
	return round.freed;
}

static void drop_held(struct round *round)
{
	if (round->held)
		page_put(round->reclaim->config.frames, round->held);
	round->held = NULL;
}

static void run_direct(struct round *round, struct reclaim *reclaim, struct sf_group *top)
{
	*round = (struct round){.reclaim = reclaim, .top = top, .target = RECLAIM_BATCH, .holds = true};
	run(round);
}

/*
 * The second round, since others may have isolated what there is: from here on who puts it back tells.
 * Returns whether somebody has.
 */
static bool look_again(struct round *round)
{
	struct reclaim *reclaim = round->reclaim;
	uint32_t put_back = reclaim_wait_begin(reclaim);
	bool others;

	drop_held(round);
	run_direct(round, reclaim, round->top);
	others = !round->freed && reclaim_wait_for_others(round, put_back);
	reclaim_wait_end(reclaim);
	return others;
}

/* Waits for who uses the pages that the round has met in vain. Returns as groups->make_room(). */
static int64_t wait_for_users(const struct round *round)
{
	if (round->held) {
		page_wait_flag(round->held, round->held_flag);
		return -EAGAIN;
	}
	/* Who unmaps pages holds them, on the lists and off, in a read section until they are released. */
	lock_rank_may_sleep();
	port_rcu_synchronize();
	return round->busy ? -EBUSY : 0;
}

static int64_t make_room(struct reclaim *reclaim, struct sf_group *group)
{
	struct round round;
	int64_t result;
	bool others;

	reclaim_count(reclaim, RECLAIM_DIRECT, 1);
	run_direct(&round, reclaim, group ? group : reclaim->config.groups->root);
	others = !round.freed && look_again(&round);
	if (round.freed)
		result = (int64_t)round.freed;
	else
		result = others ? -EAGAIN : wait_for_users(&round);
	drop_held(&round);
	return result;
}

unsigned reclaim_page_list(struct reclaim *reclaim, struct page **pages, unsigned count)
{
	struct frames *frames = reclaim->config.frames;
	struct round round = {.reclaim = reclaim,
			      .top = reclaim->config.groups->root,
			      .target = count,
			      .all = true,
			      .swap_full = !swap_any(reclaim->config.swap)};
	struct page *isolated[RECLAIM_BATCH];
	unsigned taken = 0;
	struct lru_run run;

	invariant(count <= RECLAIM_BATCH);
	reclaim_begin_work(&round);
	lru_add_drain(frames->lru);
	lru_run_begin(&run, frames->lru);
	for (unsigned i = 0; i < count; i++)
		if (lru_isolate_page(&run, pages[i]))
			isolated[taken++] = pages[i];
		else
			pages[i - taken] = pages[i];
	lru_run_end(&run);
	for (unsigned i = 0; i < count - taken; i++)
		page_put(frames, pages[i]);
	round.isolated = taken;
	if (taken)
		shrink_pages(&round, isolated, taken);
	round_free_waiting(&round);
	reclaim_end_work(&round);
	return (unsigned)round.freed;
}

static uint64_t counted(const struct reclaim *reclaim, enum reclaim_counter counter)
{
	uint64_t sum = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct reclaim_cpu *counts = percpu_of(&reclaim->cpu, cpu);

		sum += atomic_load_explicit(&counts->count[counter], memory_order_relaxed);
	}
	return sum;
}

void reclaim_statistics(const struct reclaim *reclaim, struct sf_reclaim_statistics *statistics)
{
	struct write_back_statistics write_back;

	objects_write_back_statistics(reclaim->config.objects, &write_back);
	*statistics = (struct sf_reclaim_statistics){
	    .scanned = counted(reclaim, RECLAIM_SCANNED),
	    .reclaimed = counted(reclaim, RECLAIM_RECLAIMED),
	    .activated = counted(reclaim, RECLAIM_ACTIVATED),
	    .deactivated = counted(reclaim, RECLAIM_DEACTIVATED),
	    .refaults = frames_counted(reclaim->config.frames, FRAMES_REFAULTS),
	    .entries = counted(reclaim, RECLAIM_VISITED),
	    .skipped = counted(reclaim, RECLAIM_SKIPPED),
	    .direct = counted(reclaim, RECLAIM_DIRECT),
	    .background = counted(reclaim, RECLAIM_BACKGROUND),
	    .write_backs = write_back.calls,
	    .written_back = write_back.written,
	    .written_alone = write_back.single,
	};
}
