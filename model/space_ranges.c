/* SPDX-License-Identifier: MIT */
#include "model/space_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_broken(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: the model is broken: %s\n", file, line, condition);
	abort();
}

void *model_allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	model_invariant(memory);
	return memory;
}

unsigned model_next(const struct model_space *space, uint64_t address)
{
	unsigned i = 0;

	while (i < space->count && space->range[i].end <= address)
		i++;
	return i;
}

struct model_range *model_find(struct model_space *space, uint64_t address)
{
	unsigned i = model_next(space, address);

	return i < space->count && space->range[i].start <= address ? &space->range[i] : NULL;
}

bool model_is_free(const struct model_space *space, uint64_t start, uint64_t end)
{
	unsigned i = model_next(space, start);

	return i == space->count || space->range[i].start >= end;
}

bool model_in_window(const struct model_space *space, uint64_t start, uint64_t end)
{
	const struct model_window *window = &space->world->window;

	return start >= window->start && start < end &&
	       end <= window->start + (uint64_t)window->pages * MODEL_PAGE;
}

uint64_t model_total_pages(const struct model_space *space)
{
	uint64_t pages = 0;

	for (unsigned i = 0; i < space->count; i++)
		pages += (space->range[i].end - space->range[i].start) / MODEL_PAGE;
	return pages;
}

unsigned model_page_index(const struct model_space *space, uint64_t address)
{
	uint64_t index = (address - space->world->window.start) / MODEL_PAGE;

	model_invariant(address >= space->world->window.start && index < space->world->window.pages);
	return (unsigned)index;
}

bool model_may_grow(const struct model_space *space, uint64_t pages)
{
	return model_total_pages(space) + pages <= space->limit[SF_LIMIT_ADDRESS_SPACE] / MODEL_PAGE;
}

bool model_may_lock(const struct model_space *space, uint64_t pages)
{
	for (unsigned i = 0; i < space->count; i++) {
		if (space->range[i].flags & MODEL_LOCKED)
			pages += (space->range[i].end - space->range[i].start) / MODEL_PAGE;
	}
	return pages <= space->limit[SF_LIMIT_LOCKED] / MODEL_PAGE;
}

static void open_slot(struct model_space *space, unsigned at)
{
	model_invariant(space->count < MODEL_PAGES_MAX);
	memmove(&space->range[at + 1], &space->range[at], (space->count - at) * sizeof(space->range[0]));
	space->count++;
}

static void close_slot(struct model_space *space, unsigned at)
{
	model_anon_drop(&space->range[at]);
	space->count--;
	memmove(&space->range[at], &space->range[at + 1], (space->count - at) * sizeof(space->range[0]));
}

void model_split(struct model_space *space, uint64_t address)
{
	struct model_range *left = model_find(space, address), *right;

	if (!left || left->start == address)
		return;
	right = left + 1;
	open_slot(space, (unsigned)(right - space->range));
	*right = *left;
	right->owner = NULL;
	right->lines = 0;
	model_anon_copy(right, left);
	left->end = right->start = address;
	right->offset += (address - left->start) / MODEL_PAGE;
}

int model_split_for_unmap(struct model_space *space, uint64_t start, uint64_t end)
{
	unsigned first = model_next(space, start);

	/* Only what leaves one range more than there was can fail. */
	if (first < space->count && space->range[first].start < start && space->range[first].end > end &&
	    space->count >= space->limit[SF_LIMIT_MAP_COUNT])
		return -ENOMEM;
	model_split(space, start);
	model_split(space, end);
	return 0;
}

void model_remove(struct model_space *space, uint64_t start, uint64_t end)
{
	unsigned first = model_next(space, start);

	while (first < space->count && space->range[first].start < end) {
		struct model_range *range = &space->range[first];

		model_invariant(range->start >= start && range->end <= end);
		for (uint64_t at = range->start; at < range->end; at += MODEL_PAGE)
			model_page_drop(&space->page[model_page_index(space, at)]);
		close_slot(space, first);
	}
}

static bool is_forked(const struct model_range *range)
{
	return range->owner && range->lines != 1;
}

/*
 * May `neighbour` take in a piece that touches it and continues its pages? The piece's owner is that of
 * `source`, which is NULL for a new piece. Linux does not look at the line of a range that only grows.
 */
static bool takes(const struct model_range *neighbour, const struct model_range *piece,
		  const struct model_range *source, bool grows)
{
	const struct model_anon *owner = source ? source->owner : NULL;

	if (neighbour->flags != piece->flags || neighbour->object != piece->object)
		return false;
	if (!neighbour->owner && owner)
		return grows || !is_forked(source);
	if (neighbour->owner && !owner)
		return !is_forked(neighbour);
	return neighbour->owner == owner;
}

static bool agree(const struct model_range *left, const struct model_range *right)
{
	return !left->owner || !right->owner || left->owner == right->owner;
}

/* Finds out with which neighbours a piece can become one range. NULL: there is none on that side. */
static void can_merge(const struct model_range *piece, const struct model_range *source, bool grows,
		      const struct model_range *left, const struct model_range *right, bool *with_left,
		      bool *with_right)
{
	uint64_t pages = (piece->end - piece->start) / MODEL_PAGE;

	*with_left = left && left->end == piece->start &&
		     left->offset + (left->end - left->start) / MODEL_PAGE == piece->offset &&
		     takes(left, piece, source, grows);
	*with_right = right && right->start == piece->end && right->offset == piece->offset + pages &&
		      takes(right, piece, source, grows) && (!*with_left || agree(left, right));
}

/* Ranges `at` and `at` + 1 become one. Where both have an owner it is the same; `keep` says whose line stays.
 */
static void join(struct model_space *space, unsigned at, bool keep_left)
{
	struct model_range *left = &space->range[at], *right = left + 1;
	struct model_range *keep = keep_left ? left : right, *lose = keep_left ? right : left;

	model_invariant(left->end == right->start && agree(left, right));
	if (!keep->owner && lose->owner)
		model_anon_copy(keep, lose);
	if (keep_left) {
		left->end = right->end;
	} else {
		right->offset -= (left->end - left->start) / MODEL_PAGE;
		right->start = left->start;
	}
	close_slot(space, keep_left ? at + 1 : at);
}

void model_insert(struct model_space *space, const struct model_range *fresh,
		  const struct model_range *source, bool grows)
{
	unsigned at = model_next(space, fresh->start);
	struct model_range copy;
	bool with_left, with_right;

	model_invariant(model_is_free(space, fresh->start, fresh->end));
	model_invariant(model_in_window(space, fresh->start, fresh->end));
	/* What it is moved from is itself in the array, whose elements move. */
	if (source) {
		copy = *source;
		source = &copy;
	}
	can_merge(fresh, source, grows, at ? &space->range[at - 1] : NULL,
		  at < space->count ? &space->range[at] : NULL, &with_left, &with_right);
	open_slot(space, at);
	space->range[at] = *fresh;
	space->range[at].owner = NULL;
	space->range[at].lines = 0;
	if (source)
		model_anon_copy(&space->range[at], source);
	if (with_right)
		join(space, at, false);
	if (with_left)
		join(space, at - 1, true);
}

int model_change(struct model_space *space, uint64_t start, uint64_t end, unsigned flags)
{
	unsigned at = model_next(space, start);
	struct model_range *whole = &space->range[at], piece = *whole;
	bool with_left, with_right, at_start = whole->start == start, at_end = whole->end == end;
	uint64_t limit = space->limit[SF_LIMIT_MAP_COUNT];

	model_invariant(at < space->count && whole->start <= start && whole->end >= end);
	piece.start = start;
	piece.end = end;
	piece.flags = flags;
	piece.offset += (start - whole->start) / MODEL_PAGE;
	can_merge(&piece, whole, false, at_start && at ? whole - 1 : NULL,
		  at_end && at + 1 < space->count ? whole + 1 : NULL, &with_left, &with_right);

	/* What goes over to a neighbour needs no split: one end moves. */
	if (!with_left && !with_right) {
		if (!at_start && space->count >= limit)
			return -ENOMEM;
		model_split(space, start);
		if (!at_end && space->count >= limit)
			return -ENOMEM;
	}
	model_split(space, start);
	model_split(space, end);
	at = model_next(space, start);
	space->range[at].flags = flags;
	if (with_right)
		join(space, at, false);
	if (with_left)
		join(space, at - 1, true);
	return 0;
}

int model_place(const struct model_space *space, uint64_t address, uint64_t length, bool fixed,
		uint64_t *place)
{
	const struct model_window *window = &space->world->window;
	uint64_t end = window->start + (uint64_t)window->pages * MODEL_PAGE;

	if (length > MODEL_ADDRESS_END)
		return -ENOMEM;
	if (fixed) {
		if (address > MODEL_ADDRESS_END - length)
			return -ENOMEM;
		if (!model_aligned(address))
			return -EINVAL;
		if (address < window->minimum)
			return -EPERM;
		*place = address;
		return 0;
	}
	address &= ~(uint64_t)(MODEL_PAGE - 1);
	if (address && address <= MODEL_ADDRESS_END - length &&
	    model_in_window(space, address, address + length) &&
	    model_is_free(space, address, address + length)) {
		*place = address;
		return 0;
	}
	for (uint64_t at = end; at >= window->start + length; at -= MODEL_PAGE) {
		if (model_is_free(space, at - length, at)) {
			*place = at - length;
			return 0;
		}
	}
	return -ENOMEM;
}
