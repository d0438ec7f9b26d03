/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/linemap.h"

#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/grow.h"

void linemap_open(struct linemap *map, size_t record_bytes)
{
	memset(map, 0, sizeof(*map));
	map->record_bytes = record_bytes;
}

void linemap_close(struct linemap *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->groups[i]->records);
		free(map->groups[i]);
	}
	free(map->groups);
	pairmap_free(&map->by_number);
	memset(map, 0, sizeof(*map));
}

static struct linemap_group *find_group(struct linemap *map, uint64_t number)
{
	if (map->last && map->last->number == number)
		return map->last;
	return (struct linemap_group *)(uintptr_t)pairmap_get(&map->by_number, number, 0);
}

static struct linemap_group *add_group(struct linemap *map, uint64_t number)
{
	struct linemap_group **groups =
	    grow_array(map->groups, &map->capacity, map->count + 1, sizeof(*groups));
	struct linemap_group *group;
	uint64_t *value;

	if (!groups)
		return NULL;
	map->groups = groups;
	value = pairmap_at(&map->by_number, number, 0);
	group = value ? calloc(1, sizeof(*group)) : NULL;
	if (!group)
		return NULL;
	group->number = number;
	*value = (uintptr_t)group;
	map->groups[map->count++] = group;
	return group;
}

void *linemap_at(struct linemap *map, uint64_t line)
{
	uint64_t number = line / LINEMAP_GROUP;
	unsigned within = line % LINEMAP_GROUP;
	struct linemap_group *group = find_group(map, number);
	unsigned char *record;

	if (!group)
		group = add_group(map, number);
	if (!group)
		return NULL;
	map->last = group;
	if (group->index[within])
		return group->records + (group->index[within] - 1u) * map->record_bytes;
	if (group->count == group->capacity) {
		unsigned room = group->capacity ? group->capacity * 2u : 1u;
		unsigned char *grown = realloc(group->records, room * map->record_bytes);

		if (!grown)
			return NULL;
		group->records = grown;
		group->capacity = (uint8_t)room;
	}
	record = group->records + group->count * map->record_bytes;
	memset(record, 0, map->record_bytes);
	group->index[within] = ++group->count;
	return record;
}

static void visit_group(struct linemap *map, struct linemap_group *group, uint64_t first, uint64_t last,
			void (*visit)(uint64_t line, void *record, void *context), void *context)
{
	for (unsigned within = 0; within < LINEMAP_GROUP; within++) {
		uint64_t line = group->number * LINEMAP_GROUP + within;

		if (group->index[within] && line >= first && line <= last)
			visit(line, group->records + (group->index[within] - 1u) * map->record_bytes,
			      context);
	}
}

void linemap_each(struct linemap *map, void (*visit)(uint64_t line, void *record, void *context),
		  void *context)
{
	for (size_t i = 0; i < map->count; i++)
		visit_group(map, map->groups[i], 0, UINT64_MAX, visit, context);
}

void linemap_each_in(struct linemap *map, uint64_t first, uint64_t lines,
		     void (*visit)(uint64_t line, void *record, void *context), void *context)
{
	uint64_t last = first + lines - 1;

	if (!lines)
		return;
	if (last / LINEMAP_GROUP - first / LINEMAP_GROUP >= map->count) {
		for (size_t i = 0; i < map->count; i++)
			visit_group(map, map->groups[i], first, last, visit, context);
		return;
	}
	for (uint64_t number = first / LINEMAP_GROUP; number <= last / LINEMAP_GROUP; number++) {
		struct linemap_group *group = find_group(map, number);

		if (group)
			visit_group(map, group, first, last, visit, context);
	}
}
