/* SPDX-License-Identifier: MIT */
/*
 * Types of what is not RAM: one node a reserved range, with a count of its reservations, in an interval tree.
 * Overlapping nodes always have one type.
 */
#include "mm/memtype/internal.h"

#include <errno.h>
#include <inttypes.h>

#include "port/memory.h"

struct reservation {
	struct interval interval;
	/* Both protected by memtype_tree_lock. */
	enum memtype type;
	uint64_t count; /* of equal reservations, 1 or more */
};

static struct reservation *to_reservation(struct interval *interval)
{
	return interval ? container_of(interval, struct reservation, interval) : NULL;
}

static struct reservation *first_reservation(struct memtypes *memtypes, uint64_t start, uint64_t end)
{
	return to_reservation(interval_first(&memtypes->reserved, start, end));
}

static struct reservation *next_reservation(struct memtypes *memtypes, struct reservation *reservation,
					    uint64_t start, uint64_t end)
{
	return to_reservation(interval_next(&memtypes->reserved, &reservation->interval, start, end));
}

/*
 * Returns whether a pinned page of [start, end) is in no reservation other than `except`. Such a page would
 * change its type if that reservation came or went.
 */
static bool pinned_outside_others(struct memtypes *memtypes, uint64_t start, uint64_t end,
				  const struct reservation *except)
{
	uint64_t at = start;

	for (struct reservation *other = first_reservation(memtypes, start, end); other;
	     other = next_reservation(memtypes, other, start, end)) {
		if (other == except)
			continue;
		if (other->interval.start > at &&
		    interval_first(&memtypes->pinned, at, other->interval.start))
			return true;
		if (other->interval.end > at)
			at = other->interval.end;
	}
	return at < end && interval_first(&memtypes->pinned, at, end);
}

/* Finds the type to grant. Returns 0, or -EBUSY with the type that is in the way in *granted. */
static int grant_locked(struct memtypes *memtypes, uint64_t start, uint64_t end, enum memtype requested,
			enum memtype *granted)
{
	*granted = requested;
	for (struct reservation *other = first_reservation(memtypes, start, end); other;
	     other = next_reservation(memtypes, other, start, end)) {
		if (*granted != MEMTYPE_DEFAULT && *granted != other->type) {
			*granted = other->type;
			return -EBUSY;
		}
		*granted = other->type;
	}
	if (*granted == MEMTYPE_DEFAULT)
		*granted = MEMTYPE_UC_MINUS;
	if (*granted != MEMTYPE_UC_MINUS && pinned_outside_others(memtypes, start, end, NULL)) {
		*granted = MEMTYPE_UC_MINUS;
		return -EBUSY;
	}
	return 0;
}

int memtype_range_reserve(struct memtypes *memtypes, uint64_t start, uint64_t end, enum memtype requested,
			  enum memtype *granted)
{
	struct reservation *fresh =
	    port_memory_alloc(sizeof(*fresh), PORT_NODE_FIRST_TOUCH, "struct reservation");
	struct reservation *equal;
	int error;

	if (!fresh)
		return -ENOMEM;
	spin_lock(&memtypes->memtype_tree_lock);
	error = grant_locked(memtypes, start, end, requested, granted);
	if (!error) {
		equal = to_reservation(interval_exact(&memtypes->reserved, start, end));
		if (equal) {
			equal->count++;
		} else {
			fresh->interval.start = start;
			fresh->interval.end = end;
			fresh->type = *granted;
			fresh->count = 1;
			interval_insert(&memtypes->reserved, &fresh->interval);
			fresh = NULL;
		}
	}
	spin_unlock(&memtypes->memtype_tree_lock);
	port_memory_free(fresh, sizeof(*fresh));
	return error;
}

int memtype_range_free(struct memtypes *memtypes, uint64_t start, uint64_t end)
{
	struct reservation *reservation, *last = NULL;
	int error = 0;

	spin_lock(&memtypes->memtype_tree_lock);
	reservation = to_reservation(interval_exact(&memtypes->reserved, start, end));
	if (!reservation) {
		error = -EINVAL;
	} else if (reservation->count > 1) {
		reservation->count--;
	} else if (reservation->type != MEMTYPE_UC_MINUS &&
		   pinned_outside_others(memtypes, start, end, reservation)) {
		error = -EBUSY;
	} else {
		interval_remove(&memtypes->reserved, &reservation->interval);
		last = reservation;
	}
	spin_unlock(&memtypes->memtype_tree_lock);
	port_memory_free(last, sizeof(*last));
	return error;
}

enum memtype memtype_range_lookup(struct memtypes *memtypes, uint64_t physical)
{
	struct reservation *reservation;
	enum memtype type;

	spin_lock(&memtypes->memtype_tree_lock);
	reservation = first_reservation(memtypes, physical, physical + 1);
	type = reservation ? reservation->type : MEMTYPE_UC_MINUS;
	spin_unlock(&memtypes->memtype_tree_lock);
	return type;
}

int memtype_range_check(struct memtypes *memtypes, uint64_t pins, struct message *why)
{
	uint64_t pinned = 0;

	if (!interval_tree_valid(&memtypes->reserved) || !interval_tree_valid(&memtypes->pinned))
		return message_set(why, -EINVAL, "the tree of memory types or of pins is out of order");
	for (struct interval *pin = interval_first(&memtypes->pinned, 0, MEMTYPE_PHYSICAL_MAX); pin;
	     pin = interval_next(&memtypes->pinned, pin, 0, MEMTYPE_PHYSICAL_MAX))
		pinned++;
	if (pinned != pins)
		return message_set(why, -EINVAL, "%" PRIu64 " ranges are pinned, %" PRIu64 " should", pinned,
				   pins);
	for (struct reservation *one = first_reservation(memtypes, 0, MEMTYPE_PHYSICAL_MAX); one;
	     one = next_reservation(memtypes, one, 0, MEMTYPE_PHYSICAL_MAX)) {
		uint64_t start = one->interval.start, end = one->interval.end;

		if (one->count == 0 || one->type == MEMTYPE_DEFAULT)
			return message_set(
			    why, -EINVAL, "reservation [%#" PRIx64 ", %#" PRIx64 "): type %d, count %" PRIu64,
			    start, end, (int)one->type, one->count);
		for (struct reservation *other = first_reservation(memtypes, start, end); other;
		     other = next_reservation(memtypes, other, start, end))
			if (other->type != one->type)
				return message_set(why, -EINVAL,
						   "reservations [%#" PRIx64 ", %#" PRIx64
						   ") of type %d and [%#" PRIx64 ", %#" PRIx64
						   ") of type %d overlap",
						   start, end, (int)one->type, other->interval.start,
						   other->interval.end, (int)other->type);
	}
	return 0;
}

void memtype_range_free_all(struct memtypes *memtypes)
{
	struct interval *root;

	while ((root = memtypes->reserved.root)) {
		interval_remove(&memtypes->reserved, root);
		port_memory_free(to_reservation(root), sizeof(struct reservation));
	}
}
