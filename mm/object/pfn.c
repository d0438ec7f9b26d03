/* SPDX-License-Identifier: MIT */
#include "mm/object/pfn.h"

#include "port/memory.h"

static const struct object_ops pfn_object_ops;

static struct object *create(struct memtypes *memtypes, uint64_t first_pfn, uint64_t index, uint64_t pages)
{
	struct pfn_object *pfn = port_memory_alloc(sizeof(*pfn), PORT_NODE_FIRST_TOUCH, "struct pfn_object");

	if (!pfn)
		return NULL;
	pfn->object.ops = &pfn_object_ops;
	refcount_init(&pfn->object.references, 1);
	pfn->memtypes = memtypes;
	pfn->first_pfn = first_pfn;
	pfn->index = index;
	pfn->pages = pages;
	pfn->pin.start = (first_pfn + index) << PORT_PAGE_SHIFT;
	pfn->pin.end = (first_pfn + index + pages) << PORT_PAGE_SHIFT;
	memtype_pin(memtypes, &pfn->pin);
	return &pfn->object;
}

struct object *pfn_object_create(struct memtypes *memtypes, uint64_t pfn, uint64_t pages)
{
	return create(memtypes, pfn, 0, pages);
}

static struct object *part(struct object *object, uint64_t index, uint64_t pages)
{
	struct pfn_object *whole = pfn_object_of(object);

	return create(whole->memtypes, whole->first_pfn, index, pages);
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	struct pfn_object *pfn = container_of(head, struct pfn_object, rcu);

	port_memory_free(pfn, sizeof(*pfn));
}

/* A fault that is slow enough to see the pin go finds its VMA detached, and inserts nothing. */
static void destroy(struct object *object)
{
	struct pfn_object *pfn = pfn_object_of(object);

	memtype_unpin(pfn->memtypes, &pfn->pin);
	port_rcu_call(&pfn->rcu, free_after_grace_period);
}

static const struct object_ops pfn_object_ops = {.part = part, .destroy = destroy};
