/* SPDX-License-Identifier: MIT */
/*
 * Vector clocks: what happens before what, as C11 has it (5.1.2.4) but in one point: a store that is no
 * read-modify-write ends a release sequence also when the same CPU makes it. C++20 took that rule away, and
 * nothing here may lean on it.
 *
 * Each CPU has a clock of one number for each CPU; its own grows whenever it hands over what it has done. A
 * word that was stored to with release order keeps the storing CPU's clock, for exactly the bytes that were
 * stored. Loads with acquire order take it; relaxed ones keep it for a fence.
 */
#include "vsmp/explore/shadow.h"

#include <errno.h>
#include <string.h>

#include "port/panic.h"
#include "vsmp/line.h"

uint32_t clocks_now[CLOCKS_CPUS_MAX][CLOCKS_CPUS_MAX];
unsigned clocks_count;

/* What relaxed loads have seen since the schedule began: an acquire fence takes it. */
static uint32_t seen_relaxed[CLOCKS_CPUS_MAX][CLOCKS_CPUS_MAX];

/* The clock at the last release fence, if there was one: relaxed stores hand it over. */
static uint32_t at_fence[CLOCKS_CPUS_MAX][CLOCKS_CPUS_MAX];
static bool has_fence[CLOCKS_CPUS_MAX];

/* What some bytes of a line hand over to who loads them with acquire order. */
struct handover {
	uint64_t bytes; /* one bit each */
	uint32_t next;  /* in the same line; 0: none */
	uint32_t clock[];
};

struct line_clocks {
	uint64_t schedule;
	uint32_t first;
};

#define HANDOVERS_MAX (1u << 24)

static struct line_clocks *table;
static char *handovers;
static size_t handover_bytes;
static uint32_t handovers_used; /* number 0 is nobody's */
static uint32_t handovers_free;
static uint64_t schedule_number;

static struct handover *handover_at(uint32_t number)
{
	return (struct handover *)(handovers + number * handover_bytes);
}

int clocks_open(unsigned cpus)
{
	invariant(cpus <= CLOCKS_CPUS_MAX);
	clocks_count = cpus;
	handover_bytes = (sizeof(struct handover) + cpus * sizeof(uint32_t) + 7) & ~(size_t)7;
	table = shadow_reserve(SHADOW_LINES * sizeof(*table));
	handovers = shadow_reserve(HANDOVERS_MAX * handover_bytes);
	if (!table || !handovers || sections_open()) {
		clocks_close();
		return -ENOMEM;
	}
	schedule_number = 0;
	clocks_reset();
	return 0;
}

void clocks_close(void)
{
	shadow_release(table, SHADOW_LINES * sizeof(*table));
	shadow_release(handovers, HANDOVERS_MAX * handover_bytes);
	sections_close();
	table = NULL;
	handovers = NULL;
}

void clocks_reset(void)
{
	schedule_number++;
	handovers_used = 1;
	handovers_free = 0;
	for (unsigned cpu = 0; cpu < clocks_count; cpu++) {
		memset(clocks_now[cpu], 0, clocks_count * sizeof(uint32_t));
		memset(seen_relaxed[cpu], 0, clocks_count * sizeof(uint32_t));
		has_fence[cpu] = false;
		clocks_now[cpu][cpu] = 1;
	}
	sections_reset();
}

static uint32_t take_handover(void)
{
	uint32_t number = handovers_free;

	if (number) {
		handovers_free = handover_at(number)->next;
		return number;
	}
	invariant(handovers_used < HANDOVERS_MAX);
	return handovers_used++;
}

/* The line's entry, empty if it is an earlier schedule's; NULL for memory that is not simulated. */
static struct line_clocks *line_clocks_of(uintptr_t address)
{
	struct line_clocks *line;
	uint64_t index;

	if (!shadow_index(address, &index))
		return NULL;
	line = &table[index];
	if (line->schedule != schedule_number)
		*line = (struct line_clocks){.schedule = schedule_number};
	return line;
}

static bool acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST ||
	       order == __ATOMIC_CONSUME;
}

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Joins what the bytes hand over into `clock`. */
static void gather(const struct line_clocks *line, uint64_t bytes, uint32_t *clock)
{
	for (uint32_t number = line->first; number; number = handover_at(number)->next)
		if (handover_at(number)->bytes & bytes)
			clocks_join_into(clock, handover_at(number)->clock);
}

/* Ends what the bytes hand over. */
static void drop(struct line_clocks *line, uint64_t bytes)
{
	uint32_t *link = &line->first;

	while (*link) {
		uint32_t number = *link;
		struct handover *handover = handover_at(number);

		handover->bytes &= ~bytes;
		if (handover->bytes) {
			link = &handover->next;
			continue;
		}
		*link = handover->next;
		handover->next = handovers_free;
		handovers_free = number;
	}
}

/* From here on the bytes hand over `clock`, which is no part of the line's. */
static void add(struct line_clocks *line, uint64_t bytes, const uint32_t *clock)
{
	uint32_t number = take_handover();
	struct handover *handover = handover_at(number);

	handover->bytes = bytes;
	handover->next = line->first;
	memcpy(handover->clock, clock, clocks_count * sizeof(uint32_t));
	line->first = number;
}

void clocks_acquire(const struct explore_access *access)
{
	unsigned self = clocks_self();
	struct line_clocks *line;

	if (explore_alone || access->event == EXPLORE_STORE)
		return;
	line = line_clocks_of(access->address);
	if (line && line->first)
		gather(line, shadow_mask(access->address, access->bytes),
		       acquires(access->order) ? clocks_now[self] : seen_relaxed[self]);
}

/* The current CPU has stored to the bytes: what they hand over now. */
static void release(const struct explore_access *access)
{
	unsigned self = clocks_self();
	uint64_t bytes = shadow_mask(access->address, access->bytes);
	struct line_clocks *line = line_clocks_of(access->address);
	const uint32_t *handed = releases(access->order) ? clocks_now[self]
				 : has_fence[self]       ? at_fence[self]
							 : NULL;

	if (!line)
		return;
	if (access->event == EXPLORE_STORE) {
		drop(line, bytes);
		if (handed)
			add(line, bytes, handed);
	} else if (handed) {
		/* A read-modify-write goes on with what was there. */
		uint32_t clock[CLOCKS_CPUS_MAX];

		memcpy(clock, handed, clocks_count * sizeof(uint32_t));
		gather(line, bytes, clock);
		drop(line, bytes);
		add(line, bytes, clock);
	}
	if (releases(access->order))
		clocks_tick(self);
}

static void fence(int order)
{
	unsigned self = clocks_self();

	if (acquires(order))
		clocks_join_into(clocks_now[self], seen_relaxed[self]);
	if (releases(order)) {
		memcpy(at_fence[self], clocks_now[self], clocks_count * sizeof(uint32_t));
		has_fence[self] = true;
		clocks_tick(self);
	}
}

void clocks_atomic(const struct explore_access *access)
{
	if (explore_alone)
		return;
	if (access->event == EXPLORE_FENCE) {
		fence(access->order);
		return;
	}
	clocks_acquire(access);
	if (access->event != EXPLORE_LOAD)
		release(access);
}

void clocks_wake(const struct cpu *woken)
{
	unsigned self = clocks_self();

	if (explore_alone)
		return;
	clocks_join_into(clocks_now[woken->id], clocks_now[self]);
	clocks_tick(self);
}

void clocks_barrier(void)
{
	uint32_t all[CLOCKS_CPUS_MAX] = {0};

	for (unsigned cpu = 0; cpu < clocks_count; cpu++)
		if (machine->cpus[cpu].at_barrier)
			clocks_join_into(all, clocks_now[cpu]);
	for (unsigned cpu = 0; cpu < clocks_count; cpu++)
		if (machine->cpus[cpu].at_barrier) {
			clocks_join_into(clocks_now[cpu], all);
			clocks_tick(cpu);
		}
}
