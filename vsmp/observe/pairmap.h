/* SPDX-License-Identifier: MIT */
/*
 * A hash table from a pair of 64-bit keys to a 64-bit value that is never 0. A zeroed struct is an empty map.
 */
#ifndef VSMP_OBSERVE_PAIRMAP_H
#define VSMP_OBSERVE_PAIRMAP_H

#include <stddef.h>
#include <stdint.h>

struct pairmap_entry {
	uint64_t first, second;
	uint64_t value; /* 0: the entry is free */
};

struct pairmap {
	struct pairmap_entry *entries;
	size_t capacity; /* a power of two, or 0 */
	size_t count;    /* at most three quarters of capacity */
};

static inline size_t pairmap_hash(const struct pairmap *map, uint64_t first, uint64_t second)
{
	uint64_t h = (first ^ (second * 0x9e3779b97f4a7c15ull)) * 0xbf58476d1ce4e5b9ull;

	h = (h ^ (h >> 32)) * 0x94d049bb133111ebull;
	return (h >> 29) & (map->capacity - 1);
}

/* Returns the value of the pair, or 0 when the map does not have it. */
static inline uint64_t pairmap_get(const struct pairmap *map, uint64_t first, uint64_t second)
{
	if (!map->capacity)
		return 0;
	for (size_t i = pairmap_hash(map, first, second);; i = (i + 1) & (map->capacity - 1)) {
		const struct pairmap_entry *entry = &map->entries[i];

		if (!entry->value || (entry->first == first && entry->second == second))
			return entry->value;
	}
}

/*
 * Returns where the value of the pair is: 0 when the pair is new. The caller must store a value other than 0
 * there before it calls again, or leave the 0, and the pair is not in the map. NULL when there is no memory.
 */
uint64_t *pairmap_at(struct pairmap *map, uint64_t first, uint64_t second);

/* Empties the map and gives back its memory. */
void pairmap_free(struct pairmap *map);

#endif
