/* SPDX-License-Identifier: MIT */
/*
 * The memory operations of an engine's table, over mm/system/. Compiled once in each home; the home's engine
 * opens the machine first and puts these functions into its table. What each does: engine/engine.h.
 */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/policy/policy.h"

/*
 * Makes a memory system that exports `memory_bytes` of RAM (whole pages) as frames 0 and up, with frames of
 * its own for page tables beside them. Runs on one CPU of the open machine, as engine_memory_close() does.
 * Returns 0; -EBUSY when one is open; -EINVAL or -ENOMEM; each with a message.
 */
int engine_memory_open(const struct policy *policy, uint64_t memory_bytes, bool structure_only,
		       struct message *why);

/* Destroys the spaces that are left and the system. Does nothing when none is open. */
void engine_memory_close(void);

/*
 * Also -EINVAL for a space that is not 0 to ENGINE_SPACES_MAX - 1, or that does not exist; -EEXIST for one
 * to be created that does. One CPU creates or destroys a space while no other uses it.
 */
int engine_memory_space_create(unsigned space);
void engine_memory_space_destroy(unsigned space);
int engine_memory_map_pfn(unsigned space, uintptr_t address, size_t length, uint64_t frame_of_ram);
int engine_memory_unmap(unsigned space, uintptr_t address, size_t length);
int engine_memory_touch(unsigned space, uintptr_t address, bool write);
int engine_memory_check(struct message *why);

#endif
