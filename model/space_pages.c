/* SPDX-License-Identifier: MIT */
#include "model/space_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void model_page_drop(struct model_page *page)
{
	free(page->bytes);
	page->bytes = NULL;
	page->present = page->lazy = page->paged_out = false;
}

static unsigned char **object_page(const struct model_range *range, uint64_t address)
{
	return model_object_page(range->object, range->offset + (address - range->start) / MODEL_PAGE);
}

static int fault_in_object(struct model_space *space, struct model_range *range, uint64_t address, bool write)
{
	struct model_page *page = &space->page[model_page_index(space, address)];
	bool copies = write && !(range->flags & MODEL_SHARED);
	unsigned char **bytes;

	if (page->bytes)
		return 0;
	/* Before it is known whether there is something to copy. */
	if (copies)
		model_anon_prepare(space, range);
	bytes = object_page(range, address);
	if (!bytes)
		return -EFAULT;
	if (!*bytes)
		*bytes = model_allocate(MODEL_PAGE);
	if (copies) {
		page->bytes = model_allocate(MODEL_PAGE);
		memcpy(page->bytes, *bytes, MODEL_PAGE);
		page->present = true;
	}
	return 0;
}

int model_fault(struct model_space *space, uint64_t address, bool write)
{
	struct model_range *range = model_find(space, address);
	struct model_page *page = &space->page[model_page_index(space, address)];

	model_invariant(range);
	if (range->object)
		return fault_in_object(space, range, address, write);
	page->present = true;
	if (write && !page->bytes) {
		model_anon_prepare(space, range);
		page->bytes = model_allocate(MODEL_PAGE);
	}
	return 0;
}

/* Populating writes where it may, so that the pages are the range's own. */
static int populate_range(struct model_space *space, const struct model_range *range, uint64_t start,
			  uint64_t end)
{
	bool write = (range->flags & SF_PROT_WRITE) && !(range->flags & MODEL_SHARED);

	if (!(range->flags & MODEL_PROTECTION))
		return -EFAULT;
	for (uint64_t at = start; at < end; at += MODEL_PAGE) {
		if (model_fault(space, at, write))
			return -EFAULT;
	}
	return 0;
}

static int populate(struct model_space *space, uint64_t start, uint64_t end, bool strictly)
{
	for (unsigned i = model_next(space, start);
	     start < end && i < space->count && space->range[i].start < end; i++) {
		struct model_range *range = &space->range[i];
		int error = populate_range(space, range, range->start > start ? range->start : start,
					   range->end < end ? range->end : end);

		if (error && strictly)
			return error;
	}
	return 0;
}

void model_populate(struct model_space *space, uint64_t start, uint64_t end)
{
	populate(space, start, end, false);
}

int model_populate_strictly(struct model_space *space, uint64_t start, uint64_t end)
{
	return populate(space, start, end, true);
}

static int refuse(struct sf_signal *signal, int number, int code, uint64_t address)
{
	if (signal)
		*signal = (struct sf_signal){.signal = number, .code = code, .address = address};
	return -EFAULT;
}

/* x86 cannot forbid reading alone: any right lets a page be read. */
static int touch(struct model_space *space, uint64_t address, bool write, struct sf_signal *signal)
{
	const struct model_range *range = model_find(space, address);
	unsigned needed = write ? SF_PROT_WRITE : MODEL_PROTECTION;

	if (!range)
		return refuse(signal, SIGSEGV, SEGV_MAPERR, address);
	if (!(range->flags & needed))
		return refuse(signal, SIGSEGV, SEGV_ACCERR, address);
	if (model_fault(space, address, write))
		return refuse(signal, SIGBUS, BUS_ADRERR, address);
	return 0;
}

/* Returns the bytes of a present page; NULL: all zero. */
static unsigned char *bytes_of(struct model_space *space, uint64_t address)
{
	const struct model_range *range = model_find(space, address);
	unsigned char *own = space->page[model_page_index(space, address)].bytes;

	return own || !range->object ? own : *object_page(range, address);
}

static size_t copy(struct model_space *space, uint64_t address, void *to, const void *from, size_t bytes,
		   struct sf_signal *signal)
{
	size_t done = 0;

	while (done < bytes) {
		uint64_t at = address + done, offset = at & (MODEL_PAGE - 1);
		size_t part = MODEL_PAGE - offset < bytes - done ? MODEL_PAGE - offset : bytes - done;
		unsigned char *page;

		if (touch(space, at, from, signal))
			break;
		page = bytes_of(space, at);
		if (from)
			memcpy(page + offset, (const char *)from + done, part);
		else if (page)
			memcpy((char *)to + done, page + offset, part);
		else
			memset((char *)to + done, 0, part);
		done += part;
	}
	return done;
}

size_t model_read(struct model_space *space, uint64_t address, void *buffer, size_t bytes,
		  struct sf_signal *signal)
{
	return copy(space, address, buffer, NULL, bytes, signal);
}

size_t model_write(struct model_space *space, uint64_t address, const void *buffer, size_t bytes,
		   struct sf_signal *signal)
{
	return copy(space, address, NULL, buffer, bytes, signal);
}

int model_compare_swap_64(struct model_space *space, uint64_t address, uint64_t *expected, uint64_t desired,
			  struct sf_signal *signal)
{
	uint64_t held;
	unsigned char *word;

	/* A compare-and-swap that fails is a write all the same. */
	if (touch(space, address, true, signal))
		return -EFAULT;
	word = bytes_of(space, address) + (address & (MODEL_PAGE - 1));
	memcpy(&held, word, sizeof(held));
	if (held != *expected) {
		*expected = held;
		return 0;
	}
	memcpy(word, &desired, sizeof(desired));
	return 1;
}

int model_mincore(struct model_space *space, uint64_t address, uint64_t length, unsigned char *resident)
{
	if (!model_aligned(address))
		return -EINVAL;
	if (length > MODEL_ADDRESS_END || address > MODEL_ADDRESS_END - length)
		return -ENOMEM;
	for (uint64_t at = address; at < address + length; at += MODEL_PAGE) {
		const struct model_range *range = model_find(space, at);

		if (!range)
			return -ENOMEM;
		resident[(at - address) / MODEL_PAGE] = space->page[model_page_index(space, at)].present;
		if (range->object) {
			unsigned char **bytes = object_page(range, at);

			resident[(at - address) / MODEL_PAGE] |= bytes && *bytes;
		}
	}
	return 0;
}

/* --- Worlds and spaces --------------------------------------------------------------------------------- */

struct model_world *model_world_create(const struct model_window *window)
{
	struct model_world *world = model_allocate(sizeof(*world));

	model_invariant(window->pages && window->pages <= MODEL_PAGES_MAX && model_aligned(window->start));
	world->window = *window;
	return world;
}

void model_world_destroy(struct model_world *world)
{
	while (world->anons) {
		struct model_anon *anon = world->anons;

		world->anons = anon->next;
		free(anon);
	}
	model_objects_destroy(world);
	free(world);
}

struct model_space *model_space_create(struct model_world *world)
{
	struct model_space *space = model_allocate(sizeof(*space));

	space->world = world;
	space->next = world->spaces;
	world->spaces = space;
	for (int i = 0; i < 3; i++)
		space->limit[i] = UINT64_MAX;
	return space;
}

struct model_space *model_space_fork(struct model_space *parent)
{
	struct model_space *child = model_space_create(parent->world);

	memcpy(child->limit, parent->limit, sizeof(child->limit));
	child->count = parent->count;
	for (unsigned i = 0; i < parent->count; i++) {
		const struct model_range *from = &parent->range[i];
		struct model_range *to = &child->range[i];

		*to = *from;
		to->flags &= ~(unsigned)MODEL_LOCKED;
		model_anon_fork(parent->world, to, from);
		/* A range that was never written has nothing worth copying: the child faults afresh. */
		if (!from->owner)
			continue;
		for (uint64_t at = from->start; at < from->end; at += MODEL_PAGE) {
			unsigned index = model_page_index(parent, at);

			child->page[index].present = parent->page[index].present;
			child->page[index].lazy = parent->page[index].lazy;
			child->page[index].paged_out = parent->page[index].paged_out;
			if (parent->page[index].bytes) {
				child->page[index].bytes = model_allocate(MODEL_PAGE);
				memcpy(child->page[index].bytes, parent->page[index].bytes, MODEL_PAGE);
			}
		}
	}
	return child;
}

void model_space_destroy(struct model_space *space)
{
	const struct model_window *window = &space->world->window;
	struct model_space **link = &space->world->spaces;

	model_remove(space, window->start, window->start + (uint64_t)window->pages * MODEL_PAGE);
	while (*link != space)
		link = &(*link)->next;
	*link = space->next;
	free(space);
}

int model_set_limit(struct model_space *space, enum sf_limit limit, uint64_t value)
{
	if (limit > SF_LIMIT_MAP_COUNT)
		return -EINVAL;
	space->limit[limit] = value;
	return 0;
}
