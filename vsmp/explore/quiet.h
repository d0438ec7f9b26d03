/* SPDX-License-Identifier: MIT */
/*
 * The hooks' short way for reads that need nothing of exploration; see explore_quiet.
 */
#ifndef VSMP_EXPLORE_QUIET_H
#define VSMP_EXPLORE_QUIET_H

#include "vsmp/explore/internal.h"
#include "vsmp/line.h"

/* True only while explore_quiet, and when nothing is to be checked of the bytes. */
static inline bool explore_known_alive(uintptr_t address, size_t bytes)
{
	uint64_t line = (address - ARENA_ADDRESS) >> LINE_SHIFT;

	return explore_quiet &&
	       lifetime_alive_line[line % LIFETIME_ALIVE_LINES] == lifetime_alive_base + line &&
	       (address + bytes - 1 - ARENA_ADDRESS) >> LINE_SHIFT == line;
}

#endif
