/* SPDX-License-Identifier: MIT */
/* Map, unmap, protect, lock, advise. */
#include "model/space_internal.h"

#include <errno.h>

static unsigned flags_of(int protection, int flags)
{
	unsigned result = (unsigned)protection & MODEL_PROTECTION;

	if (flags & SF_MAP_SHARED)
		result |= MODEL_SHARED;
	if (flags & SF_MAP_LOCKED)
		result |= MODEL_LOCKED;
	if (flags & SF_MAP_NORESERVE)
		result |= MODEL_NORESERVE;
	if ((result & (SF_PROT_WRITE | MODEL_SHARED | MODEL_NORESERVE)) == SF_PROT_WRITE)
		result |= MODEL_ACCOUNT;
	return result;
}

static int map(struct model_space *space, uint64_t address, uint64_t length, int protection, int flags,
	       struct model_object *object, uint64_t offset, uint64_t *mapped)
{
	bool fixed = flags & (SF_MAP_FIXED | SF_MAP_FIXED_NOREPLACE);
	struct model_range fresh = {0};
	uint64_t pages, overlapped;
	int error;

	if (!length)
		return -EINVAL;
	if (!fixed) {
		address &= ~(uint64_t)(MODEL_PAGE - 1);
		if (address && address < space->world->window.minimum)
			address = model_round_up(space->world->window.minimum);
	}
	length = model_round_up(length);
	if (!length || space->count > space->limit[SF_LIMIT_MAP_COUNT])
		return -ENOMEM;
	error = model_place(space, address, length, fixed, &address);
	if (error)
		return error;
	if ((flags & SF_MAP_FIXED_NOREPLACE) && !model_is_free(space, address, address + length))
		return -EEXIST;
	pages = length / MODEL_PAGE;
	if (flags & SF_MAP_LOCKED) {
		if (!space->limit[SF_LIMIT_LOCKED])
			return -EPERM;
		if (!model_may_lock(space, pages))
			return -EAGAIN;
	}
	if (object && offset / MODEL_PAGE > (SF_OBJECT_BYTES_MAX - length) / MODEL_PAGE)
		return -EOVERFLOW;
	if (!(flags & SF_MAP_SHARED) == !(flags & SF_MAP_PRIVATE))
		return -EINVAL;

	error = model_split_for_unmap(space, address, address + length);
	if (error)
		return error;
	overlapped = 0;
	for (uint64_t at = address; at < address + length; at += MODEL_PAGE)
		overlapped += model_find(space, at) != NULL;
	/* Here Linux leaves the splits that it has made. */
	if (!model_may_grow(space, pages - overlapped))
		return -ENOMEM;
	model_remove(space, address, address + length);

	fresh.start = address;
	fresh.end = address + length;
	fresh.flags = flags_of(protection, flags);
	fresh.object = object;
	fresh.offset = offset / MODEL_PAGE;
	if (!object && (flags & SF_MAP_SHARED))
		fresh.object = model_object_create(space->world, 0, length, false);
	else if (!object)
		fresh.offset = address / MODEL_PAGE;
	model_insert(space, &fresh, NULL, false);
	if (flags & (SF_MAP_LOCKED | SF_MAP_POPULATE))
		model_populate(space, address, address + length);
	*mapped = address;
	return 0;
}

int model_map(struct model_space *space, uint64_t address, uint64_t length, int protection, int flags,
	      uint64_t *mapped)
{
	return map(space, address, length, protection, flags, NULL, 0, mapped);
}

int model_map_object(struct model_space *space, uint64_t address, uint64_t length, int protection, int flags,
		     struct model_object *object, uint64_t offset, uint64_t *mapped)
{
	if (!model_aligned(offset))
		return -EINVAL;
	return map(space, address, length, protection, flags, object, offset, mapped);
}

int model_unmap_range(struct model_space *space, uint64_t address, uint64_t length)
{
	uint64_t end;
	int error;

	if (!model_aligned(address) || address > MODEL_ADDRESS_END || length > MODEL_ADDRESS_END - address)
		return -EINVAL;
	end = address + model_round_up(length);
	if (end == address)
		return -EINVAL;
	if (model_is_free(space, address, end))
		return 0;
	error = model_split_for_unmap(space, address, end);
	if (!error)
		model_remove(space, address, end);
	return error;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int model_protect(struct model_space *space, uint64_t address, uint64_t length, int protection)
{
	uint64_t end;

	if (!model_aligned(address))
		return -EINVAL;
	if (!length)
		return 0;
	end = address + model_round_up(length);
	if (end <= address)
		return -ENOMEM;
	if (protection & ~MODEL_PROTECTION)
		return -EINVAL;

	for (uint64_t at = address; at < end;) {
		const struct model_range *range = model_find(space, at);
		unsigned old, new;
		uint64_t stop;
		int error;

		if (!range)
			return -ENOMEM;
		old = range->flags;
		new = (old & ~(unsigned)MODEL_PROTECTION) | (unsigned)protection;
		stop = lesser(range->end, end);
		if (new != old) {
			/* What becomes writable is charged; the charge is given back before the first write.
			 */
			if ((protection & SF_PROT_WRITE) &&
			    !(old & (MODEL_ACCOUNT | SF_PROT_WRITE | MODEL_SHARED | MODEL_NORESERVE)))
				new |= MODEL_ACCOUNT;
			else if (!(protection & SF_PROT_WRITE) && !range->object && !range->owner)
				new &= ~(unsigned)MODEL_ACCOUNT;
			error = model_change(space, at, stop, new);
			if (error)
				return error;
			if ((old & (SF_PROT_WRITE | MODEL_SHARED | MODEL_LOCKED)) == MODEL_LOCKED &&
			    (protection & SF_PROT_WRITE))
				model_populate(space, at, stop);
		}
		/* It may have grown into what follows, which then is right already. */
		at = model_find(space, at)->end;
	}
	return 0;
}

static int set_locked(struct model_space *space, uint64_t start, uint64_t end, bool locked)
{
	for (uint64_t at = start; at < end;) {
		const struct model_range *range = model_find(space, at);
		uint64_t stop;

		if (!range)
			return -ENOMEM;
		stop = lesser(range->end, end);
		if (!(range->flags & MODEL_LOCKED) == locked) {
			int error = model_change(space, at, stop, range->flags ^ MODEL_LOCKED);

			if (error)
				return error;
		}
		at = model_find(space, at)->end;
	}
	return 0;
}

int model_lock(struct model_space *space, uint64_t address, uint64_t length)
{
	uint64_t pages, already = 0;
	int error;

	if (!space->limit[SF_LIMIT_LOCKED])
		return -EPERM;
	length = model_round_up(length + address % MODEL_PAGE);
	address -= address % MODEL_PAGE;
	pages = length / MODEL_PAGE;
	if (!model_may_lock(space, pages)) {
		for (uint64_t at = address; at < address + length; at += MODEL_PAGE) {
			const struct model_range *range = model_find(space, at);

			already += range && (range->flags & MODEL_LOCKED);
		}
		if (!model_may_lock(space, pages - already))
			return -ENOMEM;
	}
	if (address + length < address)
		return -EINVAL;
	error = set_locked(space, address, address + length, true);
	if (!error && model_populate_strictly(space, address, address + length))
		error = -ENOMEM;
	return error;
}

int model_unlock(struct model_space *space, uint64_t address, uint64_t length)
{
	length = model_round_up(length + address % MODEL_PAGE);
	address -= address % MODEL_PAGE;
	if (address + length < address)
		return -EINVAL;
	return set_locked(space, address, address + length, false);
}

/* MADV_POPULATE_READ and _WRITE go page by page up to the first that cannot be had. */
static int advise_populate(struct model_space *space, uint64_t start, uint64_t end, bool write)
{
	for (uint64_t at = start; at < end; at += MODEL_PAGE) {
		const struct model_range *range = model_find(space, at);

		if (!range)
			return -ENOMEM;
		if (!(range->flags & (write ? SF_PROT_WRITE : SF_PROT_READ)))
			return -EINVAL;
		if (model_fault(space, at, write))
			return -EFAULT;
	}
	return 0;
}

/* Advice for [start, end), which lies in one range. */
static int advise_range(struct model_space *space, const struct model_range *range, uint64_t start,
			uint64_t end, int advice)
{
	unsigned flags = range->flags;
	int error;

	switch (advice) {
	case SF_ADVICE_DONTNEED:
		if (flags & MODEL_LOCKED)
			return -EINVAL;
		for (uint64_t at = start; at < end; at += MODEL_PAGE)
			model_page_drop(&space->page[model_page_index(space, at)]);
		return 0;
	case SF_ADVICE_FREE:
		/* Only memory pressure takes the pages. */
		if ((flags & MODEL_LOCKED) || range->object)
			return -EINVAL;
		for (uint64_t at = start; at < end; at += MODEL_PAGE)
			space->page[model_page_index(space, at)].lazy = true;
		return 0;
	case SF_ADVICE_COLD:
	case SF_ADVICE_PAGEOUT:
		if (flags & MODEL_LOCKED)
			return -EINVAL;
		/* What is out counts as present here. */
		for (uint64_t at = start; at < end; at += MODEL_PAGE)
			space->page[model_page_index(space, at)].paged_out |= advice == SF_ADVICE_PAGEOUT;
		return 0;
	case SF_ADVICE_REMOVE:
		if ((flags & MODEL_LOCKED) || !range->object)
			return -EINVAL;
		if (!(flags & MODEL_SHARED))
			return -EACCES;
		return model_object_punch(range->object, range->offset * MODEL_PAGE + (start - range->start),
					  end - start);
	case SF_ADVICE_HUGEPAGE:
		flags = (flags & ~(unsigned)MODEL_NOHUGEPAGE) | MODEL_HUGEPAGE;
		break;
	case SF_ADVICE_NOHUGEPAGE:
		flags = (flags & ~(unsigned)MODEL_HUGEPAGE) | MODEL_NOHUGEPAGE;
		break;
	default:
		return 0;
	}
	if (flags == range->flags)
		return 0;
	error = model_change(space, start, end, flags);
	return error == -ENOMEM ? -EAGAIN : error;
}

int model_advise(struct model_space *space, uint64_t address, uint64_t length, int advice)
{
	uint64_t end;
	int hole = 0;

	switch (advice) {
	case SF_ADVICE_NORMAL:
	case SF_ADVICE_WILLNEED:
	case SF_ADVICE_DONTNEED:
	case SF_ADVICE_FREE:
	case SF_ADVICE_REMOVE:
	case SF_ADVICE_COLD:
	case SF_ADVICE_PAGEOUT:
	case SF_ADVICE_HUGEPAGE:
	case SF_ADVICE_NOHUGEPAGE:
	case SF_ADVICE_POPULATE_READ:
	case SF_ADVICE_POPULATE_WRITE:
		break;
	default:
		return -EINVAL;
	}
	end = address + model_round_up(length);
	if (!model_aligned(address) || end < address || (length && !model_round_up(length)))
		return -EINVAL;
	if (advice == SF_ADVICE_POPULATE_READ || advice == SF_ADVICE_POPULATE_WRITE)
		return advise_populate(space, address, end, advice == SF_ADVICE_POPULATE_WRITE);

	for (uint64_t at = address; at < end;) {
		unsigned next = model_next(space, at);
		const struct model_range *range = space->range + next;
		int error;

		if (next == space->count || range->start >= end)
			return -ENOMEM;
		if (range->start > at) {
			hole = -ENOMEM;
			at = range->start;
		}
		error = advise_range(space, range, at, lesser(range->end, end), advice);
		if (error)
			return error;
		at = model_find(space, at)->end;
	}
	return hole;
}

/* Nothing of what it does can be seen, but for what it refuses. */
int model_sync(struct model_space *space, uint64_t address, uint64_t length, int flags)
{
	uint64_t end = address + model_round_up(length);
	int hole = 0;

	if ((flags & ~(SF_SYNC_ASYNC | SF_SYNC_INVALIDATE | SF_SYNC_SYNC)) || !model_aligned(address) ||
	    ((flags & SF_SYNC_ASYNC) && (flags & SF_SYNC_SYNC)))
		return -EINVAL;
	if (end < address)
		return -ENOMEM;
	for (uint64_t at = address; at < end;) {
		unsigned next = model_next(space, at);
		const struct model_range *range = space->range + next;

		if (next == space->count || (range->start > at && flags == SF_SYNC_ASYNC))
			return -ENOMEM;
		if (range->start > at)
			hole = -ENOMEM;
		if (range->start >= end)
			break;
		if ((flags & SF_SYNC_INVALIDATE) && (range->flags & MODEL_LOCKED))
			return -EBUSY;
		at = range->end;
	}
	return hole;
}
