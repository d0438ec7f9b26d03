/* SPDX-License-Identifier: MIT */
/*
 * One memory system and its spaces by number.
 */
#include "engine/memory.h"

#include <errno.h>
#include <inttypes.h>

#include "engine/memory_disk.h"
#include "engine/engine.h"
#include "mm/system/system.h"
#include "softfault.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/page.h"

/* What a program copies at once. */
#define COPY_BYTES (16 * PORT_PAGE_SIZE)

/* A space has a cache line of its own here: one CPU makes its space while others look theirs up. */
struct engine_space {
	CACHE_LINE_ALIGNED struct sf_space *space;
};

struct engine_file {
	struct sf_object *object; /* NULL: there is none */
};

/* On cache lines of its own: every operation reads it. */
static struct {
	CACHE_LINE_ALIGNED struct sf_system *system; /* NULL while none is open */
	struct engine_space *spaces;                 /* [ENGINE_SPACES_MAX] */
	struct sf_group **groups;                    /* [ENGINE_GROUPS_MAX]; the root is number 0 */
	uint64_t own_frames, exported_frames;
	struct engine_file files[ENGINE_FILES_MAX];
	unsigned char *buffers; /* of each CPU, for copies */
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
	port_memory_free(memory.buffers, port_cpu_count() * COPY_BYTES);
	memory.spaces = NULL;
	memory.groups = NULL;
	memory.buffers = NULL;
}

static int make_tables(struct message *why)
{
	memory.spaces = port_memory_alloc(ENGINE_SPACES_MAX * sizeof(*memory.spaces), PORT_NODE_FIRST_TOUCH,
					  "struct engine_space");
	memory.groups = port_memory_alloc(ENGINE_GROUPS_MAX * sizeof(struct sf_group *),
					  PORT_NODE_FIRST_TOUCH, "struct sf_group *");
	memory.buffers = port_memory_alloc(port_cpu_count() * COPY_BYTES, PORT_NODE_FIRST_TOUCH, NULL);
	if (memory.spaces && memory.groups && memory.buffers)
		return 0;
	free_tables();
	return message_set(why, -ENOMEM, "no memory for the tables of spaces and groups");
}

int engine_memory_open(const struct engine_config *engine, struct message *why)
{
	struct system_config config = {.policy = engine->policy,
				       .structure_only = engine->structure_only,
				       .gather_batches = engine->gather_batches,
				       .pcp_batches = engine->pcp_batches};
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
	config.own_frames = frames;
	if (!engine->pressed)
		config.own_frames += table_frames_for(frames + config.exported_frames);
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
	for (unsigned file = 0; file < ENGINE_FILES_MAX; file++)
		memory.files[file].object = NULL;
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
	for (unsigned file = 0; file < ENGINE_FILES_MAX; file++)
		engine_memory_file_close(file);
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

int engine_memory_group_set_limit(unsigned group, uint64_t bytes)
{
	struct sf_group *found = find_group(group);

	return found ? sf_group_set_limit(found, bytes) : -EINVAL;
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

int engine_memory_space_fork(unsigned parent, unsigned space)
{
	struct sf_space *found = find(parent);

	if (!found || space >= ENGINE_SPACES_MAX)
		return -EINVAL;
	return memory.spaces[space].space ? -EEXIST : sf_space_fork(found, &memory.spaces[space].space);
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

static struct engine_file *find_file(unsigned file)
{
	return memory.system && file < ENGINE_FILES_MAX ? &memory.files[file] : NULL;
}

int engine_memory_file_create(unsigned file, uint64_t bytes, bool on_disk)
{
	struct engine_file *made = find_file(file);
	struct sf_backing *disk;
	int error;

	if (!made || !bytes)
		return -EINVAL;
	if (made->object)
		return -EEXIST;
	if (!on_disk)
		return sf_object_create(memory.system, bytes, 0, &made->object);
	disk = disk_create(bytes);
	if (!disk)
		return -ENOMEM;
	error = sf_file_open(memory.system, disk, &made->object);
	if (error)
		disk_destroy(disk);
	return error;
}

int engine_memory_file_map(unsigned space, uintptr_t address, size_t length, unsigned file, uint64_t offset)
{
	struct sf_space *found = find(space);
	struct engine_file *mapped_file = find_file(file);
	uint64_t mapped;

	if (!found || !mapped_file || !mapped_file->object)
		return -EINVAL;
	return sf_map_object(found, address, length, SF_PROT_READ | SF_PROT_WRITE,
			     SF_MAP_SHARED | SF_MAP_FIXED_NOREPLACE, mapped_file->object, offset, &mapped);
}

void engine_memory_file_close(unsigned file)
{
	struct engine_file *closed = find_file(file);

	if (!closed || !closed->object)
		return;
	sf_object_close(closed->object);
	closed->object = NULL;
}

static int copy_some(struct sf_object *to, struct sf_object *from, uint64_t offset, uint64_t bytes,
		     void *buffer)
{
	int64_t done = sf_object_read(from, offset, buffer, bytes);

	if (done == (int64_t)bytes)
		done = sf_object_write(to, offset, buffer, bytes);
	if (done < 0)
		return (int)done;
	return done == (int64_t)bytes ? 0 : -EIO;
}

int engine_memory_file_copy(unsigned to, unsigned from, uint64_t offset, uint64_t bytes)
{
	struct engine_file *target = find_file(to), *source = find_file(from);
	int error = 0;

	if (!target || !source || !target->object || !source->object)
		return -EINVAL;
	for (uint64_t done = 0; done < bytes && !error; done += COPY_BYTES)
		error = copy_some(target->object, source->object, offset + done,
				  bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES,
				  memory.buffers + port_cpu() * COPY_BYTES);
	return error;
}

void engine_memory_write_back(uint64_t bytes)
{
	sf_write_back(memory.system, bytes);
}

uint64_t engine_memory_reclaim(uint64_t bytes)
{
	return sf_group_reclaim(memory.groups[0], bytes);
}

int engine_memory_swap_add(uint64_t bytes)
{
	return memory.system ? sf_swap_add_memory(memory.system, bytes, 0) : -EINVAL;
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

void engine_memory_pressure(struct engine_pressure *pressure)
{
	struct sf_reclaim_statistics reclaim;
	struct sf_swap_statistics swap;

	sf_reclaim_statistics(memory.system, &reclaim);
	sf_swap_statistics(memory.system, &swap);
	*pressure = (struct engine_pressure){.scanned = reclaim.scanned,
					     .reclaimed = reclaim.reclaimed,
					     .entries = reclaim.entries,
					     .skipped = reclaim.skipped,
					     .refaults = reclaim.refaults,
					     .direct = reclaim.direct,
					     .swap_reads = swap.reads,
					     .swapped_in = swap.read + swap.ahead,
					     .touched_in = swap.read,
					     .swap_writes = swap.writes,
					     .swapped_out = swap.written,
					     .write_backs = reclaim.write_backs,
					     .written_back = reclaim.written_back,
					     .written_alone = reclaim.written_alone};
}

int engine_memory_check(struct message *why)
{
	if (!memory.system)
		return message_set(why, -EINVAL, "no memory system is open");
	return system_check(memory.system, why);
}
