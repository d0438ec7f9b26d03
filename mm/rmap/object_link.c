/* SPDX-License-Identifier: MIT */
#include "mm/rmap/object_link.h"

void object_link_add_locked(struct sf_object *object, struct object_link *link)
{
	interval_insert(&object->mappings, &link->pages);
	object->mapping_count++;
}

void object_link_remove(struct sf_object *object, struct object_link *link)
{
	down_write(&object->mappings_lock);
	interval_remove(&object->mappings, &link->pages);
	object->mapping_count--;
	up_write(&object->mappings_lock);
}

void object_link_walk(struct sf_object *object, uint64_t first, uint64_t end,
		      bool (*visit)(struct object_link *link, void *argument), void *argument)
{
	struct interval *interval;

	down_read(&object->mappings_lock);
	for (interval = interval_first(&object->mappings, first, end); interval;
	     interval = interval_next(&object->mappings, interval, first, end))
		if (!visit(container_of(interval, struct object_link, pages), argument))
			break;
	up_read(&object->mappings_lock);
}
