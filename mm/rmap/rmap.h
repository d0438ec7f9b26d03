/* SPDX-License-Identifier: MIT */
/*
 * The reverse map: from an object that holds pages to the ranges that map it. It sees intervals of pages, not
 * VMAs: those stand in mm/space/, and whoever walks knows what its intervals are part of.
 *
 * Who makes a VMA visible to faults adds it before, and who takes one away removes it after its last entry is
 * gone: so a walk that holds the lock meets every entry that is there when it begins, and those that come
 * later were made by faults that look at their page again. Entries move from one VMA to another only while
 * the lock is held for writing.
 *
 *                 add, remove   walk
 *   add, remove   no            no      mappings_lock for writing
 *   walk          no            yes     mappings_lock, for reading
 */
#ifndef MM_RMAP_RMAP_H
#define MM_RMAP_RMAP_H

#include "mm/object/cache.h"

/* Adds an interval, whose start and end are set. mappings_lock is held for writing. */
void rmap_add_locked(struct sf_object *object, struct interval *interval);

/* Removes one, taking the lock: with a space's lock held at most. */
void rmap_remove(struct sf_object *object, struct interval *interval);

/* Calls `visit` for each interval that overlaps [start, end), with the lock held for reading. Sleeps. */
void rmap_walk(struct sf_object *object, uint64_t start, uint64_t end,
	       void (*visit)(struct interval *interval, void *argument), void *argument);

#endif
