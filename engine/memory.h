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
#include "engine/engine.h"

/*
 * Makes the memory system that `config` asks for: memory_bytes of RAM of its own, with room for page tables
 * beside them, and exported_bytes that PFN mappings name as frames 0 and up. Runs on one CPU of the open
 * machine, as engine_memory_close() does. Returns 0; -EBUSY when one is open; -EINVAL or -ENOMEM; each with a
 * message.
 */
int engine_memory_open(const struct engine_config *config, struct message *why);

/* Destroys the spaces that are left and the system. Does nothing when none is open. */
void engine_memory_close(void);
/* Instead of closing, when the machine ends with CPUs still inside and takes all memory along. */
void engine_memory_forget(void);

/*
 * Also -EINVAL for a space that is not 0 to ENGINE_SPACES_MAX - 1, or that does not exist, and for a group
 * likewise; -EEXIST for one to be created that does. One CPU creates or destroys a space while no other uses
 * it.
 */
int engine_memory_space_create(unsigned space);
int engine_memory_space_create_in(unsigned space, unsigned group);
int engine_memory_group_create(unsigned group, unsigned parent);
int engine_memory_group_set_limit(unsigned group, uint64_t bytes);
int engine_memory_space_fork(unsigned parent, unsigned space);
void engine_memory_space_destroy(unsigned space);
int engine_memory_map_pfn(unsigned space, uintptr_t address, size_t length, uint64_t frame_of_ram);
int engine_memory_map_anon(unsigned space, uintptr_t address, size_t length, bool shared);
int engine_memory_unmap(unsigned space, uintptr_t address, size_t length);
int engine_memory_dontneed(unsigned space, uintptr_t address, size_t length);
int engine_memory_touch(unsigned space, uintptr_t address, bool write);
int engine_memory_file_create(unsigned file, uint64_t bytes, bool on_disk);
int engine_memory_file_map(unsigned space, uintptr_t address, size_t length, unsigned file, uint64_t offset);
void engine_memory_file_close(unsigned file);
int engine_memory_file_copy(unsigned to, unsigned from, uint64_t offset, uint64_t bytes);
void engine_memory_write_back(uint64_t bytes);
uint64_t engine_memory_reclaim(uint64_t bytes);
int engine_memory_swap_add(uint64_t bytes);
void engine_memory_pressure(struct engine_pressure *pressure);
void engine_memory_statistics(struct engine_statistics *statistics);
int engine_memory_check(struct message *why);

#endif
