/* SPDX-License-Identifier: MIT */
#include "model/space_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct model_object *model_object_create(struct model_world *world, uint64_t base, uint64_t size, bool file)
{
	struct model_object *object = model_allocate(sizeof(*object));

	model_invariant(model_aligned(base));
	object->world = world;
	object->base = base;
	object->size = size;
	object->file = file;
	object->next = world->objects;
	world->objects = object;
	return object;
}

void model_objects_destroy(struct model_world *world)
{
	while (world->objects) {
		struct model_object *object = world->objects;

		world->objects = object->next;
		for (unsigned i = 0; i < MODEL_OBJECT_PAGES_MAX; i++)
			free(object->bytes[i]);
		free(object);
	}
}

static unsigned char **slot_of(struct model_object *object, uint64_t index)
{
	uint64_t slot = index - object->base / MODEL_PAGE;

	model_invariant(slot < MODEL_OBJECT_PAGES_MAX);
	return &object->bytes[slot];
}

unsigned char **model_object_page(struct model_object *object, uint64_t index)
{
	return index < model_round_up(object->size) / MODEL_PAGE ? slot_of(object, index) : NULL;
}

/* Zeroes [start, end) of what is there; a page of which nothing is left is not there any more. */
static void clear(struct model_object *object, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MODEL_OBJECT_PAGES_MAX; i++) {
		uint64_t first = object->base + (uint64_t)i * MODEL_PAGE;
		uint64_t from = start > first ? start - first : 0;
		uint64_t to = end < first + MODEL_PAGE ? end - first : MODEL_PAGE;

		if (!object->bytes[i] || end <= first || from >= MODEL_PAGE)
			continue;
		memset(object->bytes[i] + from, 0, to - from);
		if (to - from == MODEL_PAGE) {
			free(object->bytes[i]);
			object->bytes[i] = NULL;
		}
	}
}

/* Private copies of what is cut off go, too. */
static void drop_copies(struct model_space *space, const struct model_object *object, uint64_t first)
{
	for (unsigned i = 0; i < space->count; i++) {
		const struct model_range *range = &space->range[i];

		for (uint64_t at = range->start; at < range->end && range->object == object;
		     at += MODEL_PAGE) {
			if (range->offset + (at - range->start) / MODEL_PAGE >= first)
				model_page_drop(&space->page[model_page_index(space, at)]);
		}
	}
}

int model_object_resize(struct model_object *object, uint64_t size)
{
	if (size > SF_OBJECT_BYTES_MAX)
		return -EINVAL;
	if (size < object->size) {
		clear(object, size, UINT64_MAX - MODEL_PAGE);
		for (struct model_space *space = object->world->spaces; space; space = space->next)
			drop_copies(space, object, model_round_up(size) / MODEL_PAGE);
	}
	object->size = size;
	return 0;
}

int model_object_punch(struct model_object *object, uint64_t offset, uint64_t bytes)
{
	if (!bytes || bytes > SF_OBJECT_BYTES_MAX || offset > SF_OBJECT_BYTES_MAX)
		return -EINVAL;
	if (bytes > SF_OBJECT_BYTES_MAX - offset)
		return -EFBIG;
	clear(object, offset, offset + bytes);
	return 0;
}

/* How many of `bytes` bytes from `at` on are in its page. */
static uint64_t part_of(uint64_t at, uint64_t bytes)
{
	uint64_t room = MODEL_PAGE - at % MODEL_PAGE;

	return bytes < room ? bytes : room;
}

int64_t model_object_read(struct model_object *object, uint64_t offset, void *buffer, uint64_t bytes)
{
	if (offset > SF_OBJECT_BYTES_MAX || bytes > SF_OBJECT_BYTES_MAX)
		return -EINVAL;
	if (offset >= object->size)
		return 0;
	if (bytes > object->size - offset)
		bytes = object->size - offset;
	for (uint64_t done = 0, part; done < bytes; done += part) {
		uint64_t at = offset + done;
		const unsigned char *page = *slot_of(object, at / MODEL_PAGE);

		part = part_of(at, bytes - done);
		if (page)
			memcpy((char *)buffer + done, page + at % MODEL_PAGE, part);
		else
			memset((char *)buffer + done, 0, part);
	}
	return (int64_t)bytes;
}

int64_t model_object_write(struct model_object *object, uint64_t offset, const void *buffer, uint64_t bytes)
{
	if (offset > SF_OBJECT_BYTES_MAX || bytes > SF_OBJECT_BYTES_MAX)
		return -EINVAL;
	for (uint64_t done = 0, part; done < bytes; done += part) {
		uint64_t at = offset + done;
		unsigned char **page = slot_of(object, at / MODEL_PAGE);

		part = part_of(at, bytes - done);
		if (!*page)
			*page = model_allocate(MODEL_PAGE);
		memcpy(*page + at % MODEL_PAGE, (const char *)buffer + done, part);
	}
	if (bytes && offset + bytes > object->size)
		object->size = offset + bytes;
	return (int64_t)bytes;
}
