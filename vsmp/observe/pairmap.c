/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/pairmap.h"

#include <stdlib.h>
#include <string.h>

#define PAIRMAP_FIRST_CAPACITY 64

static struct pairmap_entry *slot_of(const struct pairmap *map, uint64_t first, uint64_t second)
{
	size_t i = pairmap_hash(map, first, second);

	while (map->entries[i].value && (map->entries[i].first != first || map->entries[i].second != second))
		i = (i + 1) & (map->capacity - 1);
	return &map->entries[i];
}

static int enlarge(struct pairmap *map)
{
	struct pairmap larger = {.capacity = map->capacity ? map->capacity * 2 : PAIRMAP_FIRST_CAPACITY};

	larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
	if (!larger.entries)
		return -1;
	for (size_t i = 0; i < map->capacity; i++) {
		const struct pairmap_entry *entry = &map->entries[i];

		if (!entry->value)
			continue;
		*slot_of(&larger, entry->first, entry->second) = *entry;
		larger.count++;
	}
	free(map->entries);
	*map = larger;
	return 0;
}

uint64_t *pairmap_at(struct pairmap *map, uint64_t first, uint64_t second)
{
	struct pairmap_entry *entry;

	if (map->count * 4 >= map->capacity * 3) {
		uint64_t known = pairmap_get(map, first, second);

		if (!known && enlarge(map))
			return NULL;
	}
	entry = slot_of(map, first, second);
	if (!entry->value) {
		entry->first = first;
		entry->second = second;
		map->count++;
	}
	return &entry->value;
}

void pairmap_free(struct pairmap *map)
{
	free(map->entries);
	memset(map, 0, sizeof(*map));
}
