/* SPDX-License-Identifier: MIT */
#include "tests/diff/operation.h"

static bool one_in(struct random *random, unsigned many)
{
	return random_below(random, many) == 0;
}

static uint64_t below(struct random *random, uint64_t bound)
{
	return random_below(random, bound);
}

static unsigned number_of(struct model_object *const objects[DIFF_OBJECTS], const struct model_object *object)
{
	unsigned number = 0;

	while (number < DIFF_OBJECTS && objects[number] != object)
		number++;
	return number;
}

/* The range that ends where the operation's place begins, if it maps one of the objects. */
static const struct model_range *object_before(const struct model_space *space,
					       struct model_object *const objects[DIFF_OBJECTS],
					       const struct diff_operation *operation)
{
	for (unsigned i = 0; i < space->count; i++) {
		const struct model_range *range = &space->range[i];

		if (range->end == operation->address && number_of(objects, range->object) < DIFF_OBJECTS)
			return range;
	}
	return NULL;
}

void diff_pick_object_offset(struct random *random, const struct model_space *space,
			     struct model_object *const objects[DIFF_OBJECTS],
			     struct diff_operation *operation)
{
	const struct model_range *before = object_before(space, objects, operation);

	operation->object = (uint8_t)below(random, DIFF_OBJECTS);
	operation->offset = diff_object_base(operation->object) + below(random, 28) * MODEL_PAGE;
	/* What is before may go on: they become one range. */
	if (before && !one_in(random, 3)) {
		operation->object = (uint8_t)number_of(objects, before->object);
		operation->offset = before->offset * MODEL_PAGE + (before->end - before->start);
		if (one_in(random, 2)) {
			operation->flags &= ~(SF_MAP_SHARED | SF_MAP_PRIVATE);
			operation->flags |= before->flags & MODEL_SHARED ? SF_MAP_SHARED : SF_MAP_PRIVATE;
			operation->protection = (int)(before->flags & MODEL_PROTECTION);
		}
	}
	switch (below(random, 64)) {
	case 0:
		operation->offset += 1 + below(random, MODEL_PAGE - 1);
		break;
	case 1:
		/* How large a file can be is for the file system to say. */
		if (operation->object < DIFF_FILES)
			operation->offset = ((uint64_t)1 << 63) - (1 + below(random, 3)) * MODEL_PAGE;
		break;
	}
}

/* A place that is mostly in the object, or just behind its end. */
static uint64_t pick_place(struct random *random, const struct model_object *object)
{
	uint64_t held = object->size > object->base ? object->size - object->base : 0;
	uint64_t at = below(random, 40 * MODEL_PAGE);

	if (!one_in(random, 3))
		at = below(random, held + MODEL_PAGE);
	if (one_in(random, 2))
		at -= at % MODEL_PAGE;
	return object->base + at;
}

void diff_pick_object_use(struct random *random, struct model_object *const objects[DIFF_OBJECTS],
			  struct diff_operation *operation)
{
	const struct model_object *object;
	uint64_t bytes;

	operation->object = (uint8_t)below(random, DIFF_OBJECTS);
	object = objects[operation->object];
	if (operation->kind == DIFF_OBJECT_SYNC)
		return;
	operation->offset = pick_place(random, object);
	switch (operation->kind) {
	case DIFF_OBJECT_RESIZE:
		/* Rather larger: else there is soon nothing left. */
		bytes = 6 * MODEL_PAGE + below(random, 40 * MODEL_PAGE);
		if (!one_in(random, 4))
			operation->offset =
			    object->base + (one_in(random, 2) ? bytes : bytes - bytes % MODEL_PAGE);
		break;
	case DIFF_OBJECT_PUNCH:
		operation->length = (1 + below(random, 6)) * MODEL_PAGE;
		if (one_in(random, 2))
			operation->length = 1 + below(random, 3 * MODEL_PAGE);
		break;
	default:
		operation->value = random_next(random);
		operation->length = 1 + below(random, one_in(random, 2) ? 64 : DIFF_BYTES_MAX);
		if (one_in(random, 3)) {
			operation->length = sizeof(uint64_t);
			operation->value = below(random, 3);
			operation->offset -= operation->offset % 8;
		}
		break;
	}
	switch (below(random, 64)) {
	case 0:
		operation->length = 0;
		if (operation->kind == DIFF_OBJECT_RESIZE)
			operation->offset = 0;
		break;
	case 1:
		operation->offset = UINT64_MAX - below(random, MODEL_PAGE);
		break;
	case 2:
		if (operation->kind == DIFF_OBJECT_PUNCH && operation->object < DIFF_FILES) {
			operation->offset = (uint64_t)1 << 62;
			operation->length = one_in(random, 2) ? operation->offset : UINT64_MAX;
		}
		break;
	}
}

bool diff_writes_behind_file(const struct model_space *space, const struct diff_operation *operation)
{
	uint64_t end = operation->address + operation->length;

	if (operation->kind != DIFF_WRITE && operation->kind != DIFF_SWAP)
		return false;
	for (unsigned i = 0; i < space->count; i++) {
		const struct model_range *range = &space->range[i];
		uint64_t last, behind;

		if (!range->object || !range->object->file || !(range->flags & MODEL_SHARED) ||
		    range->object->size % MODEL_PAGE == 0)
			continue;
		/* Where the object ends in the space, and its last page. */
		behind = range->start + (range->object->size - range->offset * MODEL_PAGE);
		last = behind | (MODEL_PAGE - 1);
		if (range->object->size > range->offset * MODEL_PAGE && behind < range->end && end > behind &&
		    operation->address <= last)
			return true;
	}
	return false;
}
