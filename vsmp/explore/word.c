/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/word.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/grow.h"

#define DECIMAL_MAX 9999u

struct object {
	uintptr_t address;
	size_t bytes;
	const char *type_name;
	unsigned number; /* among those of its type, from 1 on */
};

static struct object *objects;
static size_t object_count, object_room;

void word_begin(void)
{
	free(objects);
	objects = NULL;
	object_count = object_room = 0;
}

static const struct object *find(uintptr_t address)
{
	for (size_t i = 0; i < object_count; i++)
		if (address - objects[i].address < objects[i].bytes)
			return &objects[i];
	return NULL;
}

void word_number(const struct record_event *event)
{
	struct object *grown;
	unsigned number = 1;

	if (!event->object || !event->type_name || find(event->address))
		return;
	for (size_t i = 0; i < object_count; i++)
		if (!strcmp(objects[i].type_name, event->type_name))
			number++;
	grown = grow_array(objects, &object_room, object_count + 1, sizeof(*grown));
	if (!grown)
		return;
	objects = grown;
	objects[object_count++] = (struct object){.address = event->object,
						  .bytes = event->object_bytes,
						  .type_name = event->type_name,
						  .number = number};
}

static bool is_only_one(const struct object *object)
{
	for (size_t i = 0; i < object_count; i++)
		if (&objects[i] != object && !strcmp(objects[i].type_name, object->type_name))
			return false;
	return true;
}

/* A type's name as far as it is one: "struct vma" is "vma". */
static const char *bare(const char *type_name)
{
	static const char *const keywords[] = {"struct ", "union ", "enum "};

	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strncmp(type_name, keywords[i], strlen(keywords[i])))
			return type_name + strlen(keywords[i]);
	return type_name;
}

/* The object, or the element of it that holds the address. Returns how many bytes it has before that. */
static uint64_t name_object(const struct object *object, uintptr_t address, char name[WORD_BYTES])
{
	uint64_t element = debuginfo_element_bytes(object->type_name), offset = address - object->address;
	int length = snprintf(name, WORD_BYTES, "%s", bare(object->type_name));

	if (!is_only_one(object))
		length += snprintf(name + length, (size_t)(WORD_BYTES - length), "#%u", object->number);
	/* An allocation is rounded up to whole lines, which does not make it an array. */
	if (!element || object->bytes < 2 * element || object->bytes - element < CACHE_LINE_BYTES)
		return element ? offset % element : offset;
	snprintf(name + length, (size_t)(WORD_BYTES - length), "[%" PRIu64 "]", offset / element);
	return offset % element;
}

static void append(char name[WORD_BYTES], const char *separator, const char *text)
{
	size_t length = strlen(name), room = WORD_BYTES - 1 - length;

	snprintf(name + length, room + 1, "%s%.*s", separator, (int)room, text);
}

/* A declaration as debuginfo_variable() writes it, without its type. */
static const char *variable_of(const char *declaration)
{
	const char *space = strrchr(declaration, ' ');

	declaration = space ? space + 1 : declaration;
	return *declaration == '*' ? declaration + 1 : declaration;
}

/* The field of an object at the address. */
static void name_field(const struct object *object, uintptr_t address, size_t bytes, char name[WORD_BYTES])
{
	uint64_t offset = name_object(object, address, name);
	struct debuginfo_name found;

	debuginfo_exact_field(object->type_name, offset, bytes, &found);
	if (*found.field)
		append(name, ".", found.field);
}

void word_name(const struct record_event *event, char name[WORD_BYTES])
{
	const struct object *object = find(event->address);
	/* A call is given what begins there, a pointer as often as not. */
	size_t bytes = event->bytes ? event->bytes : sizeof(void *);
	struct debuginfo_name found;

	if (object && event->what && event->event != EXPLORE_CALL) {
		name_object(object, event->address, name);
	} else if (object) {
		name_field(object, event->address, bytes, name);
	} else if (event->object) {
		snprintf(name, WORD_BYTES, "memory %#" PRIxPTR " + %#" PRIxPTR, event->object,
			 event->address - event->object);
	} else if (!debuginfo_exact_variable(event->address, bytes, &found)) {
		name[0] = '\0';
		append(name, "", variable_of(found.base));
		if (*found.field)
			append(name, ".", found.field);
	} else {
		snprintf(name, WORD_BYTES, "%#" PRIxPTR, event->address);
	}
}

void word_value(const struct record_event *event, uint64_t value, char text[WORD_BYTES])
{
	const struct object *object = event->bytes == sizeof(void *) ? find(value) : NULL;
	char name[WORD_BYTES];

	if (object) {
		if (name_object(object, value, name))
			name_field(object, value, sizeof(void *), name);
		snprintf(text, WORD_BYTES, "&%.*s", WORD_BYTES - 2, name);
	} else if (value <= DECIMAL_MAX)
		snprintf(text, WORD_BYTES, "%" PRIu64, value);
	else
		snprintf(text, WORD_BYTES, "%#" PRIx64, value);
}
