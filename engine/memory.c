/* SPDX-License-Identifier: MIT */
/*
 * One memory system and its spaces by number.
 */
#include "engine/memory.h"

#include <errno.h>
#include <inttypes.h>

#include "engine/engine.h"
#include "mm/system/system.h"
#include "port/memory.h"
#include "port/page.h"

/* A space has a cache line of its own here: one CPU makes its space while others look theirs up. */
struct engine_space {
	CACHE_LINE_ALIGNED struct sf_space *space;
};

static struct sf_system *engine_system;
static uint64_t engine_own_frames, engine_ram_frames;
static struct engine_space *engine_spaces; /* [ENGINE_SPACES_MAX] */

/*
 * Page tables take one frame in 512 for each time that a frame is mapped densely, and three a space. This is
 * enough for eight times, and for spaces that map thinly; it is address space, not memory.
 */
static uint64_t own_frames_for(uint64_t ram_frames)
{
	return ram_frames / 64 + 65536;
}

int engine_memory_open(const struct policy *policy, uint64_t memory_bytes, bool structure_only,
		       struct message *why)
{
	struct sf_config config = {.policy = *policy, .structure_only = structure_only};
	int error;

	if (engine_system)
		return message_set(why, -EBUSY, "a memory system is open");
	if (memory_bytes % PORT_PAGE_SIZE)
		return message_set(why, -EINVAL,
				   "%" PRIu64 " bytes of memory are not whole pages of %zu bytes",
				   memory_bytes, PORT_PAGE_SIZE);
	config.exported_frames = memory_bytes / PORT_PAGE_SIZE;
	config.own_frames = own_frames_for(config.exported_frames);
	engine_spaces = port_memory_alloc(ENGINE_SPACES_MAX * sizeof(*engine_spaces), PORT_NODE_FIRST_TOUCH,
					  "struct engine_space");
	if (!engine_spaces)
		return message_set(why, -ENOMEM, "no memory for the table of spaces");
	error = sf_system_create(&config, &engine_system, why);
	if (error) {
		port_memory_free(engine_spaces, ENGINE_SPACES_MAX * sizeof(*engine_spaces));
		engine_spaces = NULL;
		return error;
	}
	engine_own_frames = config.own_frames;
	engine_ram_frames = config.exported_frames;
	return 0;
}

void engine_memory_close(void)
{
	if (!engine_system)
		return;
	for (unsigned space = 0; space < ENGINE_SPACES_MAX; space++)
		engine_memory_space_destroy(space);
	sf_system_destroy(engine_system);
	port_memory_free(engine_spaces, ENGINE_SPACES_MAX * sizeof(*engine_spaces));
	engine_system = NULL;
	engine_spaces = NULL;
}

static struct sf_space *find(unsigned space)
{
	return engine_system && space < ENGINE_SPACES_MAX ? engine_spaces[space].space : NULL;
}

int engine_memory_space_create(unsigned space)
{
	if (!engine_system || space >= ENGINE_SPACES_MAX)
		return -EINVAL;
	if (engine_spaces[space].space)
		return -EEXIST;
	engine_spaces[space].space = sf_space_create(engine_system);
	return engine_spaces[space].space ? 0 : -ENOMEM;
}

void engine_memory_space_destroy(unsigned space)
{
	if (!find(space))
		return;
	sf_space_destroy(engine_spaces[space].space);
	engine_spaces[space].space = NULL;
}

int engine_memory_map_pfn(unsigned space, uintptr_t address, size_t length, uint64_t frame_of_ram)
{
	struct sf_space *found = find(space);
	uint64_t pages = length >> PORT_PAGE_SHIFT;

	if (!found || pages > engine_ram_frames || frame_of_ram > engine_ram_frames - pages)
		return -EINVAL;
	return sf_space_map_pfn(found, address, length, engine_own_frames + frame_of_ram, true);
}

int engine_memory_unmap(unsigned space, uintptr_t address, size_t length)
{
	struct sf_space *found = find(space);

	return found ? sf_space_unmap(found, address, length) : -EINVAL;
}

int engine_memory_touch(unsigned space, uintptr_t address, bool write)
{
	struct sf_space *found = find(space);

	return found ? sf_space_touch(found, address, write) : -EINVAL;
}

int engine_memory_check(struct message *why)
{
	if (!engine_system)
		return message_set(why, -EINVAL, "no memory system is open");
	return sf_system_check(engine_system, why);
}
