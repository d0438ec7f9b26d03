/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/grow.h"
#include "vsmp/observe/pairmap.h"

static struct {
	char **text;
	size_t count, capacity;
	struct pairmap by_hash; /* (hash, how many texts before it have the same hash) to id + 1 */
} texts;

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3ull;
	return hash;
}

int texts_add(const char *text, uint32_t *id)
{
	uint64_t hash = hash_of(text), known, rank = 0;
	uint64_t *value;
	char **grown;
	char *copy;

	while ((known = pairmap_get(&texts.by_hash, hash, rank))) {
		if (!strcmp(texts.text[known - 1], text)) {
			*id = (uint32_t)(known - 1);
			return 0;
		}
		rank++;
	}
	grown = grow_array(texts.text, &texts.capacity, texts.count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	texts.text = grown;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	value = pairmap_at(&texts.by_hash, hash, rank);
	if (!value) {
		free(copy);
		return -ENOMEM;
	}
	texts.text[texts.count] = copy;
	*id = (uint32_t)texts.count++;
	*value = texts.count;
	return 0;
}

const char *texts_get(uint32_t id)
{
	return texts.text[id];
}
