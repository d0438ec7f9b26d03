/* SPDX-License-Identifier: MIT */
/*
 * Data races: two accesses of one byte by two CPUs, at least one of them a write and at least one of them
 * plain, that nothing orders (C11, 5.1.2.4).
 *
 * Each line has a list of records. A record is some bytes of the line that one CPU accessed in one way, at
 * one time by its own clock. An access is held against all records of its bytes, and then becomes one itself.
 * A record loses the bytes of a later access that covers it: one that is ordered after it, and races with
 * whatever it would race with. So nothing is lost that could be found, and a line seldom has more than two.
 */
#include "vsmp/explore/shadow.h"

#include <errno.h>
#include <stdio.h>

#include "port/panic.h"
#include "vsmp/line.h"
#include "vsmp/observe/calls.h"

/* BIRTH and DEATH: memory or an object begins to live or dies, which is a plain write of all of it. */
enum way { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, BIRTH, DEATH, WAYS };

static const char *const way_name[WAYS] = {"plain read",   "plain write", "atomic read",
					   "atomic write", "allocation",  "free"};

/* races_with[a]: the ways that race with a, one bit each. */
#define BIT(way) (1u << (way))
#define LIFE     (BIT(BIRTH) | BIT(DEATH))
#define ALL      (BIT(WAYS) - 1)
static const uint8_t races_with[WAYS] = {
    [PLAIN_READ] = BIT(PLAIN_WRITE) | BIT(ATOMIC_WRITE) | LIFE,
    [PLAIN_WRITE] = ALL,
    [ATOMIC_READ] = BIT(PLAIN_WRITE) | LIFE,
    [ATOMIC_WRITE] = BIT(PLAIN_READ) | BIT(PLAIN_WRITE) | LIFE,
    [BIRTH] = ALL,
    [DEATH] = ALL,
};

/* covers[a]: the ways that race with nothing that a does not race with. */
static const uint8_t covers[WAYS] = {
    [PLAIN_READ] = BIT(PLAIN_READ) | BIT(ATOMIC_READ),
    [PLAIN_WRITE] = ALL,
    [ATOMIC_READ] = BIT(ATOMIC_READ),
    [ATOMIC_WRITE] = BIT(ATOMIC_READ) | BIT(ATOMIC_WRITE),
    [BIRTH] = ALL,
    [DEATH] = ALL,
};

struct record {
	uint64_t bytes; /* one bit each */
	uint32_t clock; /* of its CPU */
	uint32_t next;  /* in the same line; 0: none */
	const void *pc;
	const struct call_node *stack;
	uint8_t cpu, way;
};

struct line_records {
	uint64_t schedule;
	uint32_t first;
};

#define RECORDS_MAX (1u << 26)

static struct line_records *table;
static struct record *records;
static uint32_t records_used; /* number 0 is nobody's */
static uint32_t records_free;
static uint64_t schedule_number;

int race_open(void)
{
	table = shadow_reserve(SHADOW_LINES * sizeof(*table));
	records = shadow_reserve(RECORDS_MAX * sizeof(*records));
	if (!table || !records) {
		race_close();
		return -ENOMEM;
	}
	schedule_number = 0;
	race_reset();
	return 0;
}

void race_close(void)
{
	shadow_release(table, SHADOW_LINES * sizeof(*table));
	shadow_release(records, RECORDS_MAX * sizeof(*records));
	table = NULL;
	records = NULL;
}

void race_reset(void)
{
	schedule_number++;
	records_used = 1;
	records_free = 0;
}

static struct line_records *line_records_of(uint64_t index)
{
	struct line_records *line = &table[index];

	if (line->schedule != schedule_number)
		*line = (struct line_records){.schedule = schedule_number};
	return line;
}

static _Noreturn void report(const struct record *earlier, uint64_t both, uintptr_t address, enum way way)
{
	struct explore_place other = {.cpu = earlier->cpu, .stack = earlier->stack, .pc = earlier->pc};
	unsigned first = (unsigned)__builtin_ctzll(both);
	char text[160];

	snprintf(text, sizeof(text),
		 "%s on CPU %u and %s on CPU %u of %d bytes at %#lx, which nothing orders", way_name[way],
		 clocks_self(), way_name[earlier->way], earlier->cpu, __builtin_popcountll(both),
		 (unsigned long)(address - address % CACHE_LINE_BYTES + first));
	/* Whichever came first here, another time the memory is gone. */
	explore_fail(way == DEATH || earlier->way == DEATH ? EXPLORE_USE_AFTER_FREE : EXPLORE_DATA_RACE,
		     &other, text);
}

static uint32_t take_record(void)
{
	uint32_t number = records_free;

	if (number) {
		records_free = records[number].next;
		return number;
	}
	invariant(records_used < RECORDS_MAX);
	return records_used++;
}

/*
 * Holds an access against the line's records. What it covers loses its bytes. Returns a record of the same
 * time, way and place that the access can join, NULL when there is none.
 */
static struct record *compare(struct line_records *line, uint64_t bytes, uintptr_t address, enum way way,
			      const void *pc, const struct call_node *stack)
{
	unsigned self = clocks_self();
	const uint32_t *now = clocks_now[self];
	struct record *same = NULL;
	uint32_t *link = &line->first;

	while (*link) {
		uint32_t number = *link;
		struct record *record = &records[number];
		bool before = record->clock <= now[record->cpu];

		if (record->cpu == self && record->clock == now[self] && record->way == way &&
		    record->pc == pc && record->stack == stack) {
			same = record;
		} else if (record->bytes & bytes) {
			if (!before && (races_with[way] & BIT(record->way)))
				report(record, record->bytes & bytes, address, way);
			if (before && (covers[way] & BIT(record->way)))
				record->bytes &= ~bytes;
			if (!record->bytes) {
				*link = record->next;
				record->next = records_free;
				records_free = number;
				continue;
			}
		}
		link = &record->next;
	}
	return same;
}

/* An access of bytes of one line. */
static void check_line(uint64_t index, uintptr_t address, size_t count, enum way way, const void *pc)
{
	struct line_records *line = line_records_of(index);
	uint64_t bytes = shadow_mask(address, count);
	unsigned self = clocks_self();
	const struct call_node *stack;
	struct record *record;

	/* Most accesses follow one of the same bytes that says it all. */
	for (uint32_t number = line->first; number; number = record->next) {
		record = &records[number];
		if (record->cpu == self && record->clock == clocks_now[self][self] &&
		    !(bytes & ~record->bytes) && (covers[record->way] & BIT(way)))
			return;
	}
	stack = calls_cursor(self);
	record = compare(line, bytes, address, way, pc, stack);
	if (record) {
		record->bytes |= bytes;
	} else {
		uint32_t number = take_record();

		records[number] = (struct record){.bytes = bytes,
						  .clock = clocks_now[self][self],
						  .next = line->first,
						  .pc = pc,
						  .stack = stack,
						  .cpu = (uint8_t)self,
						  .way = (uint8_t)way};
		line->first = number;
	}
}

static void check_range(uintptr_t address, size_t bytes, enum way way, const void *pc)
{
	while (bytes) {
		size_t part = shadow_part(address, bytes);
		uint64_t index;

		if (shadow_index(address, &index))
			check_line(index, address, part, way, pc);
		address += part;
		bytes -= part;
	}
}

void race_plain(const struct explore_access *access)
{
	check_range(access->address, access->bytes, access->event == EXPLORE_READ ? PLAIN_READ : PLAIN_WRITE,
		    access->pc);
}

void race_atomic(const struct explore_access *access)
{
	/* A load that takes a clock comes after what it takes, itself. */
	clocks_acquire(access);
	check_range(access->address, access->bytes,
		    access->event == EXPLORE_LOAD ? ATOMIC_READ : ATOMIC_WRITE, access->pc);
}

void race_birth(uintptr_t address, size_t bytes, const void *pc)
{
	check_range(address, bytes, BIRTH, pc);
}

void race_death(uintptr_t address, size_t bytes, const void *pc)
{
	check_range(address, bytes, DEATH, pc);
}
