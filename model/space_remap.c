/* SPDX-License-Identifier: MIT */
#include "model/space_internal.h"

#include <errno.h>

struct remap {
	uint64_t address, old_length, new_length, new_address;
	int flags;
	uint64_t populate; /* pages to fault in at the end: a locked range has grown */
};

static bool has_new_address(const struct remap *remap)
{
	return remap->flags & (SF_REMAP_FIXED | SF_REMAP_DONTUNMAP);
}

static int check_arguments(const struct model_space *space, const struct remap *remap)
{
	uint64_t old_end = remap->address + remap->old_length;
	uint64_t new_end = remap->new_address + remap->new_length;

	if (remap->flags & ~(SF_REMAP_MAYMOVE | SF_REMAP_FIXED | SF_REMAP_DONTUNMAP))
		return -EINVAL;
	if (!model_aligned(remap->address) || !remap->new_length || remap->new_length > MODEL_ADDRESS_END ||
	    remap->new_address > MODEL_ADDRESS_END - remap->new_length)
		return -EINVAL;
	if (!has_new_address(remap))
		return 0;
	if (!model_aligned(remap->new_address) || !(remap->flags & SF_REMAP_MAYMOVE))
		return -EINVAL;
	if ((remap->flags & SF_REMAP_DONTUNMAP) && remap->old_length != remap->new_length)
		return -EINVAL;
	if (old_end > remap->new_address && new_end > remap->address)
		return -EINVAL;
	/* Both places may be split in three. */
	if (space->count + 2 + 3 >= space->limit[SF_LIMIT_MAP_COUNT])
		return -ENOMEM;
	return 0;
}

/* May the range that holds the old place be remapped so? */
static int check_range(struct model_space *space, struct remap *remap)
{
	const struct model_range *range = model_find(space, remap->address);
	uint64_t old_length = remap->old_length, growth;

	if (!range)
		return -EFAULT;
	if (remap->new_length <= old_length && !has_new_address(remap))
		return 0;
	if (!old_length && !(range->flags & MODEL_SHARED))
		return -EINVAL;
	if (old_length > remap->new_length)
		old_length = remap->new_length;
	if (old_length > range->end - remap->address)
		return -EFAULT;
	if (old_length == remap->new_length)
		return 0;
	growth = (remap->new_length - old_length) / MODEL_PAGE;
	if (range->flags & MODEL_LOCKED) {
		remap->populate = growth;
		if (!model_may_lock(space, growth))
			return -EAGAIN;
	}
	return model_may_grow(space, growth) ? 0 : -ENOMEM;
}

static void move_pages(struct model_space *space, uint64_t from, uint64_t to, uint64_t length)
{
	for (uint64_t at = 0; at < length; at += MODEL_PAGE) {
		struct model_page *source = &space->page[model_page_index(space, from + at)];
		struct model_page *target = &space->page[model_page_index(space, to + at)];

		model_invariant(!target->present);
		*target = *source;
		*source = (struct model_page){0};
	}
}

/* DONTUNMAP: the old range stays, without pages. */
static void leave_empty(struct model_space *space, const struct remap *remap)
{
	struct model_range *source = model_find(space, remap->address);
	struct model_range *target = model_find(space, remap->new_address);

	source->flags &= ~(unsigned)MODEL_LOCKED;
	if (source != target && source->start == remap->address &&
	    source->end == remap->address + remap->old_length)
		model_anon_drop(source);
}

/* Moves the old place, which lies in one range, to the new one, which is free. */
static int move(struct model_space *space, const struct remap *remap)
{
	const struct model_range *source = model_find(space, remap->address);
	struct model_range fresh = {
	    .start = remap->new_address,
	    .end = remap->new_address + remap->new_length,
	    .flags = source->flags,
	    .object = source->object,
	    .offset = source->offset + (remap->address - source->start) / MODEL_PAGE,
	};

	if (space->count + 3 >= space->limit[SF_LIMIT_MAP_COUNT])
		return -ENOMEM;
	/* Before the first write a private range is free to be what was first mapped at the new place. */
	if (!source->object && !source->owner)
		fresh.offset = remap->new_address / MODEL_PAGE;
	model_insert(space, &fresh, source, false);
	if (!(fresh.flags & MODEL_SHARED))
		move_pages(space, remap->address, remap->new_address, remap->old_length);
	if (remap->flags & SF_REMAP_DONTUNMAP)
		leave_empty(space, remap);
	else
		model_unmap_range(space, remap->address, remap->old_length);
	return 0;
}

/* To a place that the caller names, or hints at. */
static int move_to(struct model_space *space, struct remap *remap)
{
	int error;

	if (remap->flags & SF_REMAP_FIXED) {
		error = model_unmap_range(space, remap->new_address, remap->new_length);
		if (error)
			return error;
		/* An old place of no length does not overlap with the new one, and may yet have been in it.
		 */
		if (!model_find(space, remap->address))
			return -EFAULT;
	}
	if (remap->old_length > remap->new_length) {
		error = model_unmap_range(space, remap->address + remap->new_length,
					  remap->old_length - remap->new_length);
		if (error)
			return error;
		remap->old_length = remap->new_length;
	}
	if ((remap->flags & SF_REMAP_DONTUNMAP) && !model_may_grow(space, remap->old_length / MODEL_PAGE))
		return -ENOMEM;
	error = model_place(space, remap->new_address, remap->new_length, remap->flags & SF_REMAP_FIXED,
			    &remap->new_address);
	return error ? error : move(space, remap);
}

static int grow(struct model_space *space, struct remap *remap)
{
	const struct model_range *range = model_find(space, remap->address);
	uint64_t growth = remap->new_length - remap->old_length, end = range->end;
	int error;

	if (end - remap->address == remap->old_length && model_in_window(space, end, end + growth) &&
	    model_is_free(space, end, end + growth)) {
		struct model_range fresh = {
		    .start = end,
		    .end = end + growth,
		    .flags = range->flags,
		    .object = range->object,
		    .offset = range->offset + (end - range->start) / MODEL_PAGE,
		};

		model_insert(space, &fresh, range, true);
		remap->new_address = remap->address;
		return 0;
	}
	if (!(remap->flags & SF_REMAP_MAYMOVE))
		return -ENOMEM;
	error = model_place(space, 0, remap->new_length, false, &remap->new_address);
	return error ? error : move(space, remap);
}

static int remap_one(struct model_space *space, struct remap *remap)
{
	int error = check_range(space, remap);

	if (error)
		return error;
	if (has_new_address(remap))
		return move_to(space, remap);
	if (remap->new_length > remap->old_length)
		return grow(space, remap);
	remap->new_address = remap->address;
	if (remap->new_length == remap->old_length)
		return 0;
	return model_unmap_range(space, remap->address + remap->new_length,
				 remap->old_length - remap->new_length);
}

/* A move that keeps the length may take several ranges along, with the holes between them. */
static int remap_many(struct model_space *space, struct remap *remap)
{
	uint64_t start = remap->address, end = start + remap->old_length, target = remap->new_address;
	uint64_t from = start, last_end = 0, first_target = target;
	bool seen = false;

	while (from < end) {
		unsigned next = model_next(space, from);
		const struct model_range *range = space->range + next;
		int error;

		if (next == space->count || range->start >= end)
			break;
		if (!seen && range->start > start)
			return -EFAULT;
		if (seen)
			target += range->start - last_end;
		from = last_end = range->end;
		remap->address = range->start > start ? range->start : start;
		remap->old_length = remap->new_length = (from < end ? from : end) - remap->address;
		remap->new_address = target;
		error = remap_one(space, remap);
		if (error)
			return error;
		target = remap->new_address + remap->new_length;
		seen = true;
	}
	remap->new_address = first_target;
	return seen ? 0 : -EFAULT;
}

int model_remap(struct model_space *space, uint64_t address, uint64_t old_length, uint64_t new_length,
		int flags, uint64_t new_address, uint64_t *mapped)
{
	struct remap remap = {.address = address,
			      .old_length = model_round_up(old_length),
			      .new_length = model_round_up(new_length),
			      .new_address = new_address,
			      .flags = flags};
	int error = check_arguments(space, &remap);

	if (error)
		return error;
	if ((flags & SF_REMAP_FIXED) && remap.old_length == remap.new_length)
		error = remap_many(space, &remap);
	else
		error = remap_one(space, &remap);
	if (error)
		return error;
	if (remap.populate) {
		uint64_t from = remap.new_address + remap.old_length;

		model_populate(space, from, from + remap.populate * MODEL_PAGE);
	}
	*mapped = remap.new_address;
	return 0;
}
