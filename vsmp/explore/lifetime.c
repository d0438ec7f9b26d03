/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of simulated memory may be accessed. The arena up to `frontier` has been given out; bytes in
 * it that are not of anybody's are dead: freed, in a cache of free objects, or between two allocations.
 */
#include "port/lifetime.h"

#include <errno.h>
#include <stdio.h>

#include "port/page.h"
#include "port/panic.h"
#include "vsmp/explore/record.h"
#include "vsmp/explore/shadow.h"
#include "vsmp/line.h"
#include "vsmp/observe/calls.h"

/* How some memory died. Number 0: it never lived. */
struct death {
	struct explore_place place;
	const char *what, *type_name; /* NULL: of none that is known */
	uintptr_t address;
	size_t wanted;
};

struct line_life {
	uint64_t dead, dead_at_setup; /* bytes, one bit each */
	uint64_t schedule;            /* of `dead` and `death`; any other: those of setup hold */
	uint32_t death, death_at_setup;
};

#define DEATHS_MAX (1u << 24)

/*
 * Large memory that was freed is a range instead of many lines: a system's frames, when it is destroyed.
 * Nothing in it is given out again.
 */
struct dead_range {
	uintptr_t address;
	size_t bytes;
	uint32_t death;
};

#define RANGE_BYTES_MIN (4 * PORT_PAGE_SIZE)
#define RANGES_MAX      16u

static struct dead_range ranges[RANGES_MAX];
static unsigned range_count, ranges_at_setup;

static struct line_life *table;
static struct death *deaths;
static uint32_t deaths_used, deaths_at_setup;
static uintptr_t frontier, frontier_at_setup;
static uint64_t schedule_number; /* 0: in setup */

/* The base is never 0, which an empty place has; a new one forgets all. */
uint64_t lifetime_alive_line[LIFETIME_ALIVE_LINES];
uint64_t lifetime_alive_base = ARENA_LINES;

static void forget_alive(void)
{
	lifetime_alive_base += ARENA_LINES;
}

int lifetime_open(void)
{
	table = shadow_reserve(SHADOW_LINES * sizeof(*table));
	deaths = shadow_reserve(DEATHS_MAX * sizeof(*deaths));
	if (!table || !deaths) {
		lifetime_close();
		return -ENOMEM;
	}
	deaths_used = 1;
	range_count = 0;
	frontier = ARENA_ADDRESS;
	schedule_number = 0;
	return 0;
}

void lifetime_close(void)
{
	shadow_release(table, SHADOW_LINES * sizeof(*table));
	shadow_release(deaths, DEATHS_MAX * sizeof(*deaths));
	table = NULL;
	deaths = NULL;
}

void lifetime_baseline(void)
{
	invariant(!schedule_number);
	deaths_at_setup = deaths_used;
	ranges_at_setup = range_count;
	frontier_at_setup = frontier;
	schedule_number = 1;
}

void lifetime_reset(void)
{
	invariant(schedule_number);
	forget_alive();
	deaths_used = deaths_at_setup;
	range_count = ranges_at_setup;
	frontier = frontier_at_setup;
	schedule_number++;
}

/* --- Looking -------------------------------------------------------------------------------------------- */

static bool of_this_schedule(const struct line_life *line)
{
	return line->schedule && line->schedule == schedule_number;
}

static _Noreturn void report_wild(uintptr_t address, const char *access)
{
	char text[120];

	snprintf(text, sizeof(text), "%s at %#lx, memory that was never allocated", access,
		 (unsigned long)address);
	explore_fail(EXPLORE_WILD_ACCESS, NULL, text);
}

static _Noreturn void report(uint32_t number, uintptr_t address, const char *access)
{
	const struct death *death = &deaths[number];
	char text[256];

	if (!number)
		report_wild(address, access);
	snprintf(text, sizeof(text), "%s at %#lx, byte %lu of a %s of %zu bytes%s%s that CPU %u freed%s",
		 access, (unsigned long)address, (unsigned long)(address - death->address), death->what,
		 death->wanted, death->type_name ? " for " : "", death->type_name ? death->type_name : "",
		 death->place.cpu, number < deaths_at_setup ? " in setup" : "");
	explore_fail(EXPLORE_USE_AFTER_FREE, &death->place, text);
}

/* Bytes of one line. */
static void check_part(uint64_t index, uintptr_t address, size_t bytes, const char *access)
{
	const struct line_life *line = &table[index];
	bool own = of_this_schedule(line);
	uint64_t all = own ? line->dead : line->dead_at_setup, dead = all & shadow_mask(address, bytes);

	if (dead)
		report(own ? line->death : line->death_at_setup,
		       address - address % CACHE_LINE_BYTES + (uintptr_t)__builtin_ctzll(dead), access);
	if (index < ARENA_LINES && address + bytes > frontier)
		report_wild(address, access);
	for (unsigned i = 0; i < range_count; i++)
		if (address - ranges[i].address < ranges[i].bytes)
			report(ranges[i].death, address, access);
	if (explore_quiet && !all)
		lifetime_alive_line[index % LIFETIME_ALIVE_LINES] = lifetime_alive_base + index;
}

static void check(uintptr_t address, size_t bytes, const char *access)
{
	while (bytes) {
		size_t part = shadow_part(address, bytes);
		uint64_t index;

		if (shadow_index(address, &index))
			check_part(index, address, part, access);
		address += part;
		bytes -= part;
	}
}

void lifetime_check(const struct explore_access *access)
{
	static const char *const name[] = {[EXPLORE_READ] = "read",
					   [EXPLORE_WRITE] = "write",
					   [EXPLORE_LOAD] = "atomic load",
					   [EXPLORE_STORE] = "atomic store",
					   [EXPLORE_MODIFY] = "atomic read-modify-write"};
	uint64_t index;

	/* Nearly all are of lines of which nothing was ever dead. */
	if (likely(!explore_quiet && !range_count &&
		   shadow_part(access->address, access->bytes) == access->bytes &&
		   shadow_index(access->address, &index) &&
		   !(table[index].dead | table[index].dead_at_setup) &&
		   (index >= ARENA_LINES || access->address + access->bytes <= frontier)))
		return;
	check(access->address, access->bytes, name[access->event]);
}

/* --- Changing ------------------------------------------------------------------------------------------- */

/* The entry, to be changed: what setup left is copied for the schedule first. */
static struct line_life *own_entry(uint64_t index)
{
	struct line_life *line = &table[index];

	lifetime_alive_line[index % LIFETIME_ALIVE_LINES] = 0;
	if (schedule_number && line->schedule != schedule_number) {
		line->schedule = schedule_number;
		line->dead = line->dead_at_setup;
		line->death = line->death_at_setup;
	}
	return line;
}

static void mark_dead(uintptr_t address, size_t bytes, uint32_t death)
{
	while (bytes) {
		size_t part = shadow_part(address, bytes);
		uint64_t index;

		if (shadow_index(address, &index)) {
			struct line_life *line = own_entry(index);

			*(schedule_number ? &line->dead : &line->dead_at_setup) |= shadow_mask(address, part);
			*(schedule_number ? &line->death : &line->death_at_setup) = death;
		}
		address += part;
		bytes -= part;
	}
}

static void mark_alive(uintptr_t address, size_t bytes)
{
	while (bytes) {
		size_t part = shadow_part(address, bytes);
		uint64_t index;

		if (shadow_index(address, &index)) {
			struct line_life *line = own_entry(index);

			*(schedule_number ? &line->dead : &line->dead_at_setup) &=
			    ~shadow_mask(address, part);
		}
		address += part;
		bytes -= part;
	}
}

/* What is large is freed by port_memory_free() alone. */
static void die(size_t bytes, const struct death *death)
{
	uintptr_t address = death->address;

	if (!explore_alone)
		race_death(address, bytes, death->place.pc);
	invariant(deaths_used < DEATHS_MAX);
	deaths[deaths_used] = *death;
	if (bytes >= RANGE_BYTES_MIN && range_count < RANGES_MAX) {
		forget_alive();
		ranges[range_count++] =
		    (struct dead_range){.address = address, .bytes = bytes, .death = deaths_used};
	} else {
		mark_dead(address, bytes, deaths_used);
	}
	deaths_used++;
}

void lifetime_allocated(uintptr_t address, size_t bytes)
{
	size_t unit = bytes >= PORT_PAGE_SIZE ? PORT_PAGE_SIZE : CACHE_LINE_BYTES;
	uintptr_t end = (address + bytes + unit - 1) & ~(uintptr_t)(unit - 1);

	/* Nothing is given out twice while memory is watched, and what is new is alive: only what lies before
	 * and behind is nobody's. */
	invariant(address >= frontier);
	mark_dead(frontier, address - frontier, 0);
	mark_dead(address + bytes, end - address - bytes, 0);
	frontier = end;
	if (!explore_alone)
		race_birth(address, bytes, NULL);
}

static struct explore_place place_of(const void *pc)
{
	unsigned self = clocks_self();

	return (struct explore_place){.cpu = self, .stack = calls_cursor(self), .pc = pc};
}

void lifetime_freed(uintptr_t address, size_t bytes, size_t wanted, const char *type_name, const void *pc)
{
	if (unlikely(record_level == RECORD_EVENTS))
		record_free((const void *)address, bytes, pc);
	die(bytes, &(struct death){.place = place_of(pc),
				   .what = "block",
				   .type_name = type_name,
				   .address = address,
				   .wanted = wanted});
}

int vsmp_memory_watched(void)
{
	return exploring;
}

void vsmp_memory_dead(const void *memory, size_t bytes, const char *what)
{
	if (!exploring)
		return;
	if (unlikely(record_level == RECORD_EVENTS))
		record_free(memory, bytes, __builtin_return_address(0));
	check((uintptr_t)memory, bytes, "free");
	die(bytes, &(struct death){.place = place_of(__builtin_return_address(0)),
				   .what = what,
				   .address = (uintptr_t)memory,
				   .wanted = bytes});
}

void vsmp_memory_alive(const void *memory, size_t bytes)
{
	if (!exploring)
		return;
	mark_alive((uintptr_t)memory, bytes);
	if (!explore_alone)
		race_birth((uintptr_t)memory, bytes, __builtin_return_address(0));
}
