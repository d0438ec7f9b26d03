/* SPDX-License-Identifier: MIT */
/*
 * Puts back what a schedule changed: each line that is written is saved before, once a schedule; the
 * machine's own structures are copied when setup has ended.
 */
#ifndef VSMP_EXPLORE_UNDO_H
#define VSMP_EXPLORE_UNDO_H

#include "vsmp/line.h"

/* Returns 0 or -ENOMEM. */
int undo_open(void);
void undo_close(void);

/* The state now is the one to put back; from here on lines are saved. */
void undo_baseline(void);

/* Puts the state of undo_baseline() back. */
void undo_all(void);

/* How many lines have been saved since then. */
size_t undo_lines(void);

/* --- For the fast path ---------------------------------------------------------------------------------- */

/* The number of the schedule in which a line was last saved, by line; the schedule that runs now, 0: none
 * is saved. */
extern uint32_t *undo_stamps;
extern uint32_t undo_now;

void undo_save_line(uint64_t number);

/* Global variables: the machine's own may stand in the same line, so these bytes alone are put back. */
void undo_save_globals(uintptr_t address, size_t bytes);

/* [address, address + bytes), all of it simulated, is about to be written. */
static inline void undo_save(uintptr_t address, size_t bytes)
{
	uint64_t number = (address - ARENA_ADDRESS) >> LINE_SHIFT;

	if (!undo_now || !bytes)
		return;
	if (number >= ARENA_LINES) {
		undo_save_globals(address, bytes);
		return;
	}
	for (; number <= (address + bytes - 1 - ARENA_ADDRESS) >> LINE_SHIFT; number++)
		if (undo_stamps[number] != undo_now)
			undo_save_line(number);
}

#endif
