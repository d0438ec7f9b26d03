/* SPDX-License-Identifier: MIT */
/*
 * One memory system and its spaces by number.
 */
#include "engine/memory.h"

#include <errno.h>
#include <inttypes.h>

#include "engine/engine.h"
#include "mm/system/system.h"
#include "softfault.h"
#include "port/memory.h"
#include "port/page.h"

/* A space has a cache line of its own here: one CPU makes its space while others look theirs up. */
struct engine_space {
	CACHE_LINE_ALIGNED struct sf_space *space;
};

/* On cache lines of its own: every operation reads it. */
static struct {
	CACHE_LINE_ALIGNED struct sf_system *system; /* NULL while none is open */
	struct engine_space *spaces;                 /* [ENGINE_SPACES_MAX] */
	struct sf_group **groups;                    /* [ENGINE_GROUPS_MAX]; the root is number 0 */
	uint64_t own_frames, exported_frames;
} memory;

/*
 * Frames for page tables: one in 512 for each time that a frame is mapped densely, and three a space. This is
 * enough for eight times, and for spaces that map thinly; it is address space, not memory.
 */
static uint64_t table_frames_for(uint64_t frames)
{
	return frames / 64 + 65536;
}

static void free_tables(void)
{
	port_memory_free(memory.spaces, ENGINE_SPACES_MAX * sizeof(*memory.spaces));
	port_memory_free(memory.groups, ENGINE_GROUPS_MAX * sizeof(struct sf_group *));
	memory.spaces = NULL;
	memory.groups = NULL;
}

static int make_tables(struct message *why)
{
	memory.spaces = port_memory_alloc(ENGINE_SPACES_MAX * sizeof(*memory.spaces), PORT_NODE_FIRST_TOUCH,
					  "struct engine_space");
	memory.groups = port_memory_alloc(ENGINE_GROUPS_MAX * sizeof(struct sf_group *),
					  PORT_NODE_FIRST_TOUCH, "struct sf_group *");
	if (memory.spaces && memory.groups)
		return 0;
	free_tables();
	return message_set(why, -ENOMEM, "no memory for the tables of spaces and groups");
}

int engine_memory_open(const struct engine_config *engine, struct message *why)
{
	struct system_config config = {.policy = engine->policy,
				       .structure_only = engine->structure_only,
				       .gather_batches = engine->gather_batches};
	uint64_t frames = engine->memory_bytes / PORT_PAGE_SIZE;
	int error;

	if (memory.system)
		return message_set(why, -EBUSY, "a memory system is open");
	if ((engine->memory_bytes | engine->exported_bytes) % PORT_PAGE_SIZE)
		return message_set(why, -EINVAL,
				   "%" PRIu64 " and %" PRIu64
				   " bytes of memory are not whole pages of %zu bytes",
				   engine->memory_bytes, engine->exported_bytes, PORT_PAGE_SIZE);
	config.exported_frames = engine->exported_bytes / PORT_PAGE_SIZE;
	config.own_frames = frames + table_frames_for(frames + config.exported_frames);
	error = make_tables(why);
	if (error)
		return error;
	error = system_create(&config, &memory.system, why);
	if (error) {
		free_tables();
		return error;
	}
	memory.groups[0] = sf_group_root(memory.system);
	memory.own_frames = config.own_frames;
	memory.exported_frames = config.exported_frames;
	return 0;
}

void engine_memory_forget(void)
{
	memory.system = NULL;
}

/* Groups can be below others of any number: those without any go first. */
static void destroy_groups(void)
{
	for (bool left = true; left;) {
		left = false;
		for (unsigned group = 1; group < ENGINE_GROUPS_MAX; group++) {
			if (!memory.groups[group])
				continue;
			if (sf_group_destroy(memory.groups[group]))
				left = true;
			else
				memory.groups[group] = NULL;
		}
	}
}

void engine_memory_close(void)
{
	if (!memory.system)
		return;
	for (unsigned space = 0; space < ENGINE_SPACES_MAX; space++)
		engine_memory_space_destroy(space);
	destroy_groups();
	system_destroy(memory.system);
	memory.system = NULL;
	free_tables();
}

static struct sf_space *find(unsigned space)
{
	return memory.system && space < ENGINE_SPACES_MAX ? memory.spaces[space].space : NULL;
}

static struct sf_group *find_group(unsigned group)
{
	return memory.system && group < ENGINE_GROUPS_MAX ? memory.groups[group] : NULL;
}

int engine_memory_group_create(unsigned group, unsigned parent)
{
	if (!find_group(parent) || group >= ENGINE_GROUPS_MAX)
		return -EINVAL;
	return memory.groups[group] ? -EEXIST : sf_group_create(memory.groups[parent], &memory.groups[group]);
}

int engine_memory_space_create_in(unsigned space, unsigned group)
{
	if (!find_group(group) || space >= ENGINE_SPACES_MAX)
		return -EINVAL;
	if (memory.spaces[space].space)
		return -EEXIST;
	return sf_space_create_in(memory.groups[group], &memory.spaces[space].space);
}

int engine_memory_space_create(unsigned space)
{
	return engine_memory_space_create_in(space, 0);
}

void engine_memory_space_destroy(unsigned space)
{
	if (!find(space))
		return;
	sf_space_destroy(memory.spaces[space].space);
	memory.spaces[space].space = NULL;
}

int engine_memory_map_pfn(unsigned space, uintptr_t address, size_t length, uint64_t frame_of_ram)
{
	struct sf_space *found = find(space);
	uint64_t pages = length >> PORT_PAGE_SHIFT;

	if (!found || pages > memory.exported_frames || frame_of_ram > memory.exported_frames - pages)
		return -EINVAL;
	return system_map_pfn(found, address, length, memory.own_frames + frame_of_ram, true);
}

int engine_memory_map_anon(unsigned space, uintptr_t address, size_t length, bool shared)
{
	struct sf_space *found = find(space);
	int flags = (shared ? SF_MAP_SHARED : SF_MAP_PRIVATE) | SF_MAP_ANONYMOUS | SF_MAP_FIXED_NOREPLACE;
	uint64_t mapped;

	return found ? sf_map(found, address, length, SF_PROT_READ | SF_PROT_WRITE, flags, &mapped) : -EINVAL;
}

int engine_memory_map_file(unsigned space, uintptr_t address, size_t length)
{
	struct sf_space *found = find(space);
	struct sf_object *file;
	uint64_t mapped;
	int error = found ? sf_object_create(memory.system, length, 0, &file) : -EINVAL;

	if (error)
		return error;
	error = sf_map_object(found, address, length, SF_PROT_READ | SF_PROT_WRITE,
			      SF_MAP_SHARED | SF_MAP_FIXED_NOREPLACE, file, 0, &mapped);
	sf_object_close(file);
	return error;
}

int engine_memory_unmap(unsigned space, uintptr_t address, size_t length)
{
	struct sf_space *found = find(space);

	return found ? sf_unmap(found, address, length) : -EINVAL;
}

int engine_memory_dontneed(unsigned space, uintptr_t address, size_t length)
{
	struct sf_space *found = find(space);

	return found ? sf_advise(found, address, length, SF_ADVICE_DONTNEED) : -EINVAL;
}

int engine_memory_touch(unsigned space, uintptr_t address, bool write)
{
	struct sf_space *found = find(space);

	return found ? sf_touch(found, address, write ? SF_WRITE : SF_READ, NULL) : -EINVAL;
}

void engine_memory_statistics(struct engine_statistics *statistics)
{
	struct sf_system_statistics system;

	sf_system_statistics(memory.system, &system);
	*statistics = (struct engine_statistics){.faults = system.faults,
						 .counter = ENGINE_COUNTER_SYSTEM,
						 .has_retired = true,
						 .peak_retired_bytes = system.peak_retired_bytes};
}

int engine_memory_check(struct message *why)
{
	if (!memory.system)
		return message_set(why, -EINVAL, "no memory system is open");
	return system_check(memory.system, why);
}
