/* SPDX-License-Identifier: MIT */
/*
 * What clocks.c, race.c and lifetime.c have in common: a table with an entry for each line of simulated
 * memory, numbered as `lines` is, in reserved address space of which only what is touched is there. An entry
 * holds the number of the schedule that it was written in, so a new schedule begins without clearing any.
 */
#ifndef VSMP_EXPLORE_SHADOW_H
#define VSMP_EXPLORE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vsmp/explore/internal.h"
#include "vsmp/line.h"

/* Entries of such a table: for all lines that there can be. */
#define SHADOW_LINES (ARENA_LINES + (SHADOW_GLOBALS_BYTES_MAX >> LINE_SHIFT))
/* As vsmp/line.c has it. */
#define SHADOW_GLOBALS_BYTES_MAX (64ull << 20)

/* Returns `bytes` of zeroes in reserved address space, or NULL. shadow_release() gives them back; NULL is
 * allowed. */
void *shadow_reserve(size_t bytes);
void shadow_release(void *memory, size_t bytes);

/* Writes the number of the line of `address` to *index. Returns false when it is not simulated. */
static inline bool shadow_index(uintptr_t address, uint64_t *index)
{
	uintptr_t offset = address - ARENA_ADDRESS;

	if (likely(offset < ARENA_BYTES)) {
		*index = offset >> LINE_SHIFT;
		return true;
	}
	offset = address - globals_address;
	*index = ARENA_LINES + (offset >> LINE_SHIFT);
	return offset < globals_bytes;
}

/* The bytes [address, address + bytes) of their line, one bit each; they do not go beyond it. */
static inline uint64_t shadow_mask(uintptr_t address, size_t bytes)
{
	return (bytes < CACHE_LINE_BYTES ? ((uint64_t)1 << bytes) - 1 : ~(uint64_t)0)
	       << address % CACHE_LINE_BYTES;
}

/* How much of `bytes` at `address` is in its first line. */
static inline size_t shadow_part(uintptr_t address, size_t bytes)
{
	size_t room = CACHE_LINE_BYTES - address % CACHE_LINE_BYTES;

	return bytes < room ? bytes : room;
}

/* --- clocks.c, for race.c ------------------------------------------------------------------------------- */

#define CLOCKS_CPUS_MAX 64

/* clocks_now[a][b]: how much of what CPU b did happened before what CPU a does now. */
extern uint32_t clocks_now[CLOCKS_CPUS_MAX][CLOCKS_CPUS_MAX];

/* How many CPUs have clocks. */
extern unsigned clocks_count;

/* The number of the CPU whose doings are told. */
static inline unsigned clocks_self(void)
{
	return current ? current->id : current_id;
}

/* The current CPU is about to read the atomic word: its clock moves as the order asks for. */
void clocks_acquire(const struct explore_access *access);

static inline void clocks_join_into(uint32_t *clock, const uint32_t *other)
{
	for (unsigned cpu = 0; cpu < clocks_count; cpu++)
		if (clock[cpu] < other[cpu])
			clock[cpu] = other[cpu];
}

/* What the current CPU does from here on is no part of what it has handed over so far. */
static inline void clocks_tick(unsigned cpu)
{
	clocks_now[cpu][cpu]++;
}

/* --- sections.c, for clocks.c ----------------------------------------------------------------------------
 */

int sections_open(void);
void sections_close(void);
void sections_reset(void);

/* --- race.c, for lifetime.c ------------------------------------------------------------------------------
 */

/* All of a range is written at once, by an allocation or the beginning of an object's life; by a free or the
 * end of one. A race with the latter is a use after free. */
void race_birth(uintptr_t address, size_t bytes, const void *pc);
void race_death(uintptr_t address, size_t bytes, const void *pc);

#endif
