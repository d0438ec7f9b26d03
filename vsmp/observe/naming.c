/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/observe.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/texts.h"

#define FIELDS_JOINED 3
#define RARE          16

/* Kept, as the texts are: (type << 32 | bytes, offset) to base << 32 | field, plus 1; type to its size,
 * plus 1. */
static struct pairmap known_fields, known_sizes;

int naming_place_of(uint64_t line, unsigned offset, struct naming_place *place)
{
	uintptr_t address = observe_line_address(line);
	struct observe_place found = observe_place_of(address + offset);

	if (!found.object) {
		*place = (struct naming_place){.offset = address, .type = NAMING_GLOBAL};
		return 0;
	}
	/* An object that begins within its line: the difference wraps around, and back when offsets are
	 * added. */
	*place = (struct naming_place){.offset = address - found.object, .type = NAMING_UNTYPED};
	return found.type_name ? texts_add(found.type_name, &place->type) : 0;
}

static void make_name(uint32_t type, uint64_t offset, unsigned bytes, struct debuginfo_name *name)
{
	name->field[0] = '\0';
	if (type == NAMING_UNTYPED)
		strcpy(name->base, "[memory without a type]");
	else if (type != NAMING_GLOBAL)
		debuginfo_field(texts_get(type), offset, bytes, name);
	else if (debuginfo_variable(offset, bytes, name))
		strcpy(name->base, "[no variable]");
}

/* Makes the same elements of an array one, so that each field has to be named only once. */
static int reduce_offset(uint32_t type, uint64_t *offset)
{
	uint64_t *size;

	if (type == NAMING_UNTYPED)
		*offset = 0;
	if (type == NAMING_UNTYPED || type == NAMING_GLOBAL)
		return 0;
	size = pairmap_at(&known_sizes, type, 0);
	if (!size)
		return -ENOMEM;
	if (!*size)
		*size = debuginfo_element_bytes(texts_get(type)) + 1;
	if (*size > 1)
		*offset %= *size - 1;
	return 0;
}

int naming_field(const struct naming_place *place, unsigned offset, unsigned bytes,
		 struct naming_field *field)
{
	uint64_t at = place->offset + offset;
	struct debuginfo_name name;
	uint64_t *known;

	if (reduce_offset(place->type, &at))
		return -ENOMEM;
	known = pairmap_at(&known_fields, (uint64_t)place->type << 32 | bytes, at);
	if (!known)
		return -ENOMEM;
	if (!*known) {
		make_name(place->type, at, bytes, &name);
		if (texts_add(name.base, &field->base) || texts_add(name.field, &field->field))
			return -ENOMEM;
		*known = ((uint64_t)field->base << 32 | field->field) + 1;
	}
	field->base = (uint32_t)((*known - 1) >> 32);
	field->field = (uint32_t)(*known - 1);
	return 0;
}

int naming_count(struct naming_tally *tally, struct naming_field field, uint64_t weight)
{
	struct naming_entry *grown;

	for (size_t i = 0; i < tally->count; i++) {
		struct naming_entry *entry = &tally->entries[i];

		if (entry->field.base == field.base && entry->field.field == field.field) {
			entry->weight += weight;
			return 0;
		}
	}
	grown = grow_array(tally->entries, &tally->capacity, tally->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	tally->entries = grown;
	tally->entries[tally->count++] = (struct naming_entry){.field = field, .weight = weight};
	return 0;
}

int naming_merge(struct naming_tally *tally, const struct naming_tally *from)
{
	for (size_t i = 0; i < from->count; i++) {
		int error = naming_count(tally, from->entries[i].field, from->entries[i].weight);

		if (error)
			return error;
	}
	return 0;
}

void naming_free(struct naming_tally *tally)
{
	free(tally->entries);
	memset(tally, 0, sizeof(*tally));
}

static int compare_entries(const void *left, const void *right)
{
	const struct naming_entry *a = left, *b = right;
	int order;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	order = strcmp(texts_get(a->field.base), texts_get(b->field.base));
	return order ? order : strcmp(texts_get(a->field.field), texts_get(b->field.field));
}

struct naming_field naming_main(const struct naming_tally *tally)
{
	const struct naming_entry *best = &tally->entries[0];

	for (size_t i = 1; i < tally->count; i++)
		if (compare_entries(&tally->entries[i], best) < 0)
			best = &tally->entries[i];
	return best->field;
}

/* True when the entry is all of an object of which another entry names a part. */
static bool says_nothing(const struct naming_tally *tally, const struct naming_entry *entry)
{
	if (*texts_get(entry->field.field))
		return false;
	for (size_t i = 0; i < tally->count; i++)
		if (&tally->entries[i] != entry && tally->entries[i].field.base == entry->field.base)
			return true;
	return false;
}

char *naming_join(struct naming_tally *tally, bool drop_rare)
{
	char text[FIELDS_JOINED * (2 * DEBUGINFO_NAME_BYTES + 2)] = "";
	uint64_t total = 0;
	uint32_t base = 0;
	unsigned joined = 0;

	qsort(tally->entries, tally->count, sizeof(*tally->entries), compare_entries);
	for (size_t i = 0; i < tally->count; i++)
		total += tally->entries[i].weight;
	for (size_t i = 0; i < tally->count && joined < FIELDS_JOINED; i++) {
		const struct naming_entry *entry = &tally->entries[i];
		const char *field = texts_get(entry->field.field);

		if (says_nothing(tally, entry) || (joined && drop_rare && entry->weight * RARE < total))
			continue;
		if (joined)
			strcat(text, "+");
		if (!joined || entry->field.base != base) {
			base = entry->field.base;
			strcat(text, texts_get(base));
			strcat(text, *field ? "." : "");
		}
		strcat(text, field);
		joined++;
	}
	return strdup(text);
}
