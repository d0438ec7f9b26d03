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
	return (address - ARENA_ADDRESS) >> LINE_SHIFT == lifetime_alive_line &&
	       (address + bytes - 1 - ARENA_ADDRESS) >> LINE_SHIFT == lifetime_alive_line;
}

#endif
