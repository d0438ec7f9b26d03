/* SPDX-License-Identifier: MIT */
#include "vsmp/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "port/memory.h"
#include "port/page.h"
#include "port/panic.h"
#include "vsmp/explore/internal.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"
#include "vsmp/spinning.h"

/* Allocations in the order of their addresses. A freed one keeps its place, and serves the next of its size.
 */
struct region {
	uintptr_t address;
	size_t bytes;  /* rounded up to whole lines or pages */
	size_t wanted; /* what was asked for */
	unsigned node;
	const char *type_name;
	bool used;
	size_t next_free; /* index + 1 of another of this size; 0: none */
};

/* Freed regions of one size. Few sizes are ever freed: those of the code's own structures. */
struct free_list {
	size_t bytes;
	size_t first; /* index + 1; 0: none */
};

static struct region *regions;
static size_t region_count, region_room;

/*
 * Finds the region of an address: nearly all are shorter than a page, and of these every line says whose it
 * is. The others, few, are searched. After memory_put_back() lines may name regions that are no more.
 */
static uint32_t *region_of_line; /* index + 1; 0: none, or one of a page or more */
static size_t *long_regions;     /* their indices, in the order of the addresses */
static size_t long_count, long_room;

#define REGION_OF_LINE_BYTES (ARENA_LINES * sizeof(*region_of_line))

static struct free_list *free_lists;
static size_t free_list_count;
static uintptr_t next_address;
static size_t used_count;

/* What stands at memory_baseline(), and which of it has been freed since, as a list through next_free. */
static size_t base_count, base_used_count;
static uintptr_t base_next_address;
static size_t first_freed; /* index + 1; 0: none */

static void *reserve(void *address, size_t bytes, int fixed)
{
	void *memory = mmap(address, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int memory_open(void)
{
	if (!reserve((void *)ARENA_ADDRESS, ARENA_BYTES, MAP_FIXED_NOREPLACE))
		return -ENOMEM;
	region_of_line = reserve(NULL, REGION_OF_LINE_BYTES, 0);
	if (!region_of_line) {
		munmap((void *)ARENA_ADDRESS, ARENA_BYTES);
		return -ENOMEM;
	}
	next_address = ARENA_ADDRESS;
	region_count = used_count = long_count = 0;
	base_count = first_freed = 0;
	return 0;
}

void memory_close(void)
{
	munmap((void *)ARENA_ADDRESS, ARENA_BYTES);
	if (region_of_line)
		munmap(region_of_line, REGION_OF_LINE_BYTES);
	free(regions);
	free(long_regions);
	free(free_lists);
	region_of_line = NULL;
	regions = NULL;
	long_regions = NULL;
	free_lists = NULL;
	region_count = region_room = long_count = long_room = free_list_count = 0;
}

static struct region *find_long(uintptr_t address)
{
	size_t low = 0, high = long_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct region *region = &regions[long_regions[middle]];

		if (address < region->address)
			high = middle;
		else if (address >= region->address + region->bytes)
			low = middle + 1;
		else
			return region;
	}
	return NULL;
}

/* The region that holds `address`; NULL when none does. */
static struct region *find(uintptr_t address)
{
	uint64_t line = (address - ARENA_ADDRESS) >> LINE_SHIFT;
	struct region *region;

	if (line < ARENA_LINES && region_of_line[line] && region_of_line[line] <= region_count) {
		region = &regions[region_of_line[line] - 1];
		if (address - region->address < region->bytes)
			return region;
	}
	return find_long(address);
}

unsigned memory_home(uintptr_t address, unsigned socket)
{
	const struct region *region = find(address);

	if (!region || region->node == PORT_NODE_FIRST_TOUCH)
		return socket;
	return region->node;
}

static struct free_list *find_list(size_t bytes)
{
	for (size_t i = 0; i < free_list_count; i++)
		if (free_lists[i].bytes == bytes)
			return &free_lists[i];
	return NULL;
}

static struct region *reuse(size_t bytes)
{
	struct free_list *list = find_list(bytes);
	struct region *region;

	if (!list || !list->first)
		return NULL;
	region = &regions[list->first - 1];
	list->first = region->next_free;
	return region;
}

static void give_back(struct region *region)
{
	struct free_list *list = find_list(region->bytes);

	if (!list) {
		struct free_list *larger = realloc(free_lists, (free_list_count + 1) * sizeof(*free_lists));

		/* Without a list the region is lost until the machine ends; nothing else is. */
		if (!larger)
			return;
		free_lists = larger;
		list = &free_lists[free_list_count++];
		*list = (struct free_list){.bytes = region->bytes};
	}
	region->next_free = list->first;
	list->first = (size_t)(region - regions) + 1;
}

/* Room for one more region, and for it among the long ones. */
static int make_room(void)
{
	if (region_count == region_room) {
		size_t room = region_room ? region_room * 2 : 256;
		struct region *larger = room <= UINT32_MAX ? realloc(regions, room * sizeof(*regions)) : NULL;

		if (!larger)
			return -ENOMEM;
		regions = larger;
		region_room = room;
	}
	if (long_count == long_room) {
		size_t room = long_room ? long_room * 2 : 64;
		size_t *larger = realloc(long_regions, room * sizeof(*long_regions));

		if (!larger)
			return -ENOMEM;
		long_regions = larger;
		long_room = room;
	}
	return 0;
}

static struct region *extend(size_t bytes)
{
	bool is_long = bytes >= PORT_PAGE_SIZE;
	size_t alignment = is_long ? PORT_PAGE_SIZE : CACHE_LINE_BYTES;
	uintptr_t address = (next_address + alignment - 1) & ~(alignment - 1);

	if (bytes > ARENA_ADDRESS + ARENA_BYTES - address || make_room())
		return NULL;
	next_address = address + bytes;
	/* Nothing lies right behind an allocation: who runs over it is seen. */
	if (exploring)
		next_address += CACHE_LINE_BYTES;
	regions[region_count++] = (struct region){.address = address, .bytes = bytes};
	if (is_long)
		long_regions[long_count++] = region_count - 1;
	for (size_t at = 0; !is_long && at < bytes; at += CACHE_LINE_BYTES)
		region_of_line[(address + at - ARENA_ADDRESS) >> LINE_SHIFT] = (uint32_t)region_count;
	return &regions[region_count - 1];
}

void *vsmp_memory_alloc(size_t bytes, unsigned node, const char *type_name)
{
	size_t unit = bytes >= PORT_PAGE_SIZE ? PORT_PAGE_SIZE : CACHE_LINE_BYTES;
	struct region *region;
	size_t wanted;

	if (!bytes || bytes > ARENA_BYTES)
		return NULL;
	wanted = bytes;
	bytes = (bytes + unit - 1) & ~(unit - 1);
	region = exploring ? NULL : reuse(bytes);
	if (!region)
		region = extend(bytes);
	if (!region)
		return NULL;
	region->used = true;
	region->wanted = wanted;
	region->node = node;
	region->type_name = type_name;
	used_count++;
	if (exploring)
		lifetime_allocated(region->address, wanted);
	return (void *)region->address;
}

/* It stays as it is, but who touches it fails. */
static void retire(struct region *region, const void *pc)
{
	size_t index = (size_t)(region - regions);

	if (index < base_count) {
		region->next_free = first_freed;
		first_freed = index + 1;
	}
	/* Last: a race with it ends the schedule. */
	lifetime_freed(region->address, region->bytes, region->wanted, region->type_name, pc);
}

void vsmp_memory_free(void *memory, size_t bytes)
{
	struct region *region;
	struct line *line;

	if (!memory)
		return;
	region = find((uintptr_t)memory);
	/* Freed before, or never given out: no access of it may be made. */
	if (exploring && (!region || !region->used))
		explore_touch(memory, 1, EXPLORE_WRITE, __builtin_return_address(0));
	invariant(region && region->used && region->address == (uintptr_t)memory && region->bytes >= bytes);
	region->used = false;
	used_count--;
	if (exploring) {
		retire(region, __builtin_return_address(0));
		return;
	}
	give_back(region);
	line = line_of(region->address);
	spinning_forget(line, line + (region->bytes >> LINE_SHIFT));
	line_forget(line, region->bytes >> LINE_SHIFT);
	/* Whoever gets it next finds zeroes. */
	if (region->bytes >= PORT_PAGE_SIZE)
		madvise(memory, region->bytes, MADV_DONTNEED);
	else
		memset(memory, 0, region->bytes);
}

struct observe_place observe_place_of(uintptr_t address)
{
	const struct region *region = find(address);

	if (!region)
		return (struct observe_place){0};
	return (struct observe_place){
	    .object = region->address, .object_bytes = region->bytes, .type_name = region->type_name};
}

void memory_baseline(void)
{
	base_count = region_count;
	base_used_count = used_count;
	base_next_address = next_address;
	first_freed = 0;
}

void memory_put_back(void)
{
	for (; first_freed; first_freed = regions[first_freed - 1].next_free)
		regions[first_freed - 1].used = true;
	region_count = base_count;
	while (long_count && long_regions[long_count - 1] >= base_count)
		long_count--;
	used_count = base_used_count;
	next_address = base_next_address;
}

size_t memory_used(struct observe_place *first)
{
	for (size_t i = 0; used_count && i < region_count; i++) {
		if (!regions[i].used)
			continue;
		*first = observe_place_of(regions[i].address);
		first->object_bytes = regions[i].wanted;
		break;
	}
	return used_count;
}
