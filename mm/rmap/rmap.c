/* SPDX-License-Identifier: MIT */
#include "mm/rmap/rmap.h"

void rmap_add_locked(struct sf_object *object, struct interval *interval)
{
	interval_insert(&object->mappings, interval);
	object->mapping_count++;
}

void rmap_remove(struct sf_object *object, struct interval *interval)
{
	down_write(&object->mappings_lock);
	interval_remove(&object->mappings, interval);
	object->mapping_count--;
	up_write(&object->mappings_lock);
}

void rmap_walk(struct sf_object *object, uint64_t start, uint64_t end,
	       void (*visit)(struct interval *interval, void *argument), void *argument)
{
	struct interval *interval;

	down_read(&object->mappings_lock);
	for (interval = interval_first(&object->mappings, start, end); interval;
	     interval = interval_next(&object->mappings, interval, start, end))
		visit(interval, argument);
	up_read(&object->mappings_lock);
}
