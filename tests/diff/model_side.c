/* SPDX-License-Identifier: MIT */
#include "tests/diff/model_side.h"

#include <errno.h>
#include <string.h>

void model_side_open(struct model_side *side, const struct diff_terms *terms)
{
	struct model_window window = {
	    .start = DIFF_START, .pages = DIFF_PAGES, .minimum = terms->minimum_address};

	memset(side, 0, sizeof(*side));
	side->world = model_world_create(&window);
	side->spaces[0] = model_space_create(side->world);
	model_set_limit(side->spaces[0], SF_LIMIT_LOCKED, terms->locked_max);
	model_set_limit(side->spaces[0], SF_LIMIT_MAP_COUNT, terms->ranges_max);
	for (unsigned i = 0; i < DIFF_OBJECTS; i++)
		side->objects[i] = model_object_create(side->world, diff_object_base(i), diff_object_bytes(i),
						       i >= DIFF_FILES);
}

void model_side_close(struct model_side *side)
{
	for (unsigned i = 0; i < DIFF_SPACES; i++) {
		if (side->spaces[i])
			model_space_destroy(side->spaces[i]);
	}
	model_world_destroy(side->world);
}

static int advice_of(unsigned kind)
{
	static const int advice[DIFF_KINDS] = {
	    [DIFF_NORMAL] = SF_ADVICE_NORMAL,
	    [DIFF_WILLNEED] = SF_ADVICE_WILLNEED,
	    [DIFF_DONTNEED] = SF_ADVICE_DONTNEED,
	    [DIFF_FREE] = SF_ADVICE_FREE,
	    [DIFF_REMOVE] = SF_ADVICE_REMOVE,
	    [DIFF_COLD] = SF_ADVICE_COLD,
	    [DIFF_PAGEOUT] = SF_ADVICE_PAGEOUT,
	    [DIFF_HUGEPAGE] = SF_ADVICE_HUGEPAGE,
	    [DIFF_NOHUGEPAGE] = SF_ADVICE_NOHUGEPAGE,
	    [DIFF_POPULATE_READ] = SF_ADVICE_POPULATE_READ,
	    [DIFF_POPULATE_WRITE] = SF_ADVICE_POPULATE_WRITE,
	};

	return advice[kind];
}

static void run_copy(struct model_space *space, const struct diff_operation *operation,
		     struct diff_result *result)
{
	unsigned char bytes[DIFF_BYTES_MAX];
	struct sf_signal signal = {0};
	bool write = operation->kind == DIFF_WRITE;
	size_t copied;

	if (write) {
		diff_fill(operation, bytes);
		copied = model_write(space, operation->address, bytes, operation->length, &signal);
		result->value = copied;
	} else {
		copied = model_read(space, operation->address, bytes, operation->length, &signal);
		result->value = diff_digest(bytes, copied);
	}
	if (copied < operation->length) {
		result->error = -EFAULT;
		result->signal = signal.signal;
		result->code = signal.code;
		result->fault = signal.address;
	}
}

static void run_swap(struct model_space *space, const struct diff_operation *operation,
		     struct diff_result *result)
{
	struct sf_signal signal = {0};
	uint64_t expected = operation->expected;

	result->error =
	    model_compare_swap_64(space, operation->address, &expected, operation->value, &signal);
	if (result->error < 0) {
		result->signal = signal.signal;
		result->code = signal.code;
		result->fault = signal.address;
	} else {
		result->value = expected;
	}
}

static int run_fork(struct model_side *side, const struct diff_operation *operation)
{
	if (side->spaces[operation->target])
		return DIFF_PASSED_OVER;
	side->spaces[operation->target] = model_space_fork(side->spaces[operation->space]);
	return 0;
}

static int run_exit(struct model_side *side, unsigned space)
{
	unsigned alive = 0;

	for (unsigned i = 0; i < DIFF_SPACES; i++)
		alive += side->spaces[i] != NULL;
	if (alive == 1)
		return DIFF_PASSED_OVER;
	model_space_destroy(side->spaces[space]);
	side->spaces[space] = NULL;
	return 0;
}

static void take_look(struct model_space *space, bool with_bytes, struct diff_look *look)
{
	memset(look, 0, sizeof(*look));
	for (unsigned i = 0; i < space->count; i++) {
		const struct model_range *range = &space->range[i];

		for (uint64_t at = range->start; at < range->end; at += MODEL_PAGE) {
			struct diff_page *page = &look->page[(at - DIFF_START) / MODEL_PAGE];
			unsigned protection = range->flags & (SF_PROT_READ | SF_PROT_WRITE | SF_PROT_EXEC);
			unsigned char resident, bytes[MODEL_PAGE];

			model_mincore(space, at, MODEL_PAGE, &resident);
			page->state = DIFF_MAPPED | protection |
				      (range->flags & MODEL_SHARED ? DIFF_SHARED : 0) |
				      (at == range->start ? DIFF_STARTS : 0);
			if (range->object)
				page->state |= diff_offset_state(range->offset * MODEL_PAGE);
			if (resident && !diff_is_file(page->state))
				page->state |= DIFF_RESIDENT;
			if (with_bytes && protection && (resident || diff_is_file(page->state)) &&
			    model_read(space, at, bytes, sizeof(bytes), NULL) == sizeof(bytes))
				page->bytes = diff_digest(bytes, sizeof(bytes));
		}
	}
}

/* What has been paged out is in memory or not. */
static void run_mincore(const struct model_side *side, const struct diff_operation *operation,
			struct diff_result *result)
{
	struct model_space *space = side->spaces[operation->space];
	unsigned char resident[DIFF_PAGES] = {0};

	result->error = model_mincore(space, operation->address, operation->length, resident);
	for (unsigned i = 0; i < DIFF_PAGES && !result->error; i++) {
		uint64_t at = operation->address + i * MODEL_PAGE;
		const struct model_range *range = model_find(space, at);

		result->value |= (uint64_t)resident[i] << i;
		if (range && ((range->object && range->object->file) || (resident[i] && side->paged_out)))
			result->ignored |= (uint64_t)1 << i;
	}
}

static void run_object_copy(struct model_object *object, const struct diff_operation *operation,
			    struct diff_result *result)
{
	unsigned char bytes[DIFF_BYTES_MAX];
	int64_t done;

	if (operation->kind == DIFF_OBJECT_WRITE) {
		diff_fill(operation, bytes);
		done = model_object_write(object, operation->offset, bytes, operation->length);
		result->value = done < 0 ? 0 : (uint64_t)done;
	} else {
		done = model_object_read(object, operation->offset, bytes, operation->length);
		result->value = done < 0 ? 0 : diff_digest(bytes, (size_t)done);
	}
	if (done < 0)
		result->error = (int32_t)done;
}

static void look_object(struct model_object *object, struct diff_result *result)
{
	unsigned char page[MODEL_PAGE];
	int64_t got;

	result->value = object->size;
	for (uint64_t at = object->base; (got = model_object_read(object, at, page, sizeof(page))) > 0;
	     at += MODEL_PAGE)
		result->value = diff_chain(result->value, page, (size_t)got);
}

void model_side_run(struct model_side *side, const struct diff_operation *operation,
		    struct diff_result *result, struct diff_look *look)
{
	struct model_space *space = side->spaces[operation->space];
	struct model_object *object = side->objects[operation->object];
	uint64_t address = operation->address, length = operation->length;

	memset(result, 0, sizeof(*result));
	if (!space) {
		result->error = DIFF_PASSED_OVER;
		return;
	}
	switch (operation->kind) {
	case DIFF_MAP:
	case DIFF_MAP_HINT:
	case DIFF_MAP_FIXED:
	case DIFF_MAP_NOREPLACE:
		result->error = model_map(space, address, length, operation->protection, operation->flags,
					  &result->value);
		break;
	case DIFF_MAP_OBJECT:
		result->error = model_map_object(space, address, length, operation->protection,
						 operation->flags, object, operation->offset, &result->value);
		break;
	case DIFF_UNMAP:
		result->error = model_unmap_range(space, address, length);
		break;
	case DIFF_PROTECT:
		result->error = model_protect(space, address, length, operation->protection);
		break;
	case DIFF_REMAP:
	case DIFF_REMAP_MAYMOVE:
	case DIFF_REMAP_FIXED:
	case DIFF_REMAP_DONTUNMAP:
		result->error = model_remap(space, address, length, operation->new_length, operation->flags,
					    operation->new_address, &result->value);
		break;
	case DIFF_LOCK:
		result->error = model_lock(space, address, length);
		break;
	case DIFF_UNLOCK:
		result->error = model_unlock(space, address, length);
		break;
	case DIFF_MINCORE:
		run_mincore(side, operation, result);
		break;
	case DIFF_SYNC:
		result->error = model_sync(space, address, length, operation->flags);
		break;
	case DIFF_OBJECT_RESIZE:
		result->error = model_object_resize(object, operation->offset);
		break;
	case DIFF_OBJECT_PUNCH:
		result->error = model_object_punch(object, operation->offset, length);
		break;
	case DIFF_OBJECT_READ:
	case DIFF_OBJECT_WRITE:
		run_object_copy(object, operation, result);
		break;
	case DIFF_OBJECT_SYNC:
		break;
	case DIFF_LOOK_OBJECT:
		look_object(object, result);
		break;
	case DIFF_LIMIT:
		result->error = model_set_limit(space, operation->target, operation->value);
		break;
	case DIFF_FORK:
		result->error = run_fork(side, operation);
		break;
	case DIFF_EXIT:
		result->error = run_exit(side, operation->space);
		break;
	case DIFF_READ:
	case DIFF_WRITE:
		run_copy(space, operation, result);
		break;
	case DIFF_SWAP:
		run_swap(space, operation, result);
		break;
	case DIFF_OPEN:
		for (uint64_t at = DIFF_START; at < DIFF_END; at += MODEL_PAGE)
			model_protect(space, at, MODEL_PAGE, SF_PROT_READ);
		break;
	case DIFF_LOOK:
		break;
	default:
		side->paged_out = side->paged_out || operation->kind == DIFF_PAGEOUT;
		result->error = model_advise(space, address, length, advice_of(operation->kind));
		break;
	}
	if (operation->check && side->spaces[operation->space])
		take_look(space, operation->check == DIFF_CHECK_BYTES, look);
}
