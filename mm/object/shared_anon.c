/* SPDX-License-Identifier: MIT */
/*
 * The page index is an array, a slot a page: address space that costs memory only where pages are. A slot
 * goes once from empty to a page, by compare-and-swap, and stays so until nobody can reach the object; so
 * readers need no lock. `used` tells which parts of the array have pages, for the walk at the end.
 */
#include "mm/object/shared_anon.h"

#include <errno.h>

#include "mm/charge/charge.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/rcu.h"

#define PART_SLOTS 512u

struct shared_anon {
	/* Read only, but for the references. */
	struct object object;
	struct frames *frames;
	uint64_t pages;
	struct page *_Atomic *slot; /* [pages]; each holds a reference */
	_Atomic uint8_t *used;      /* [pages / PART_SLOTS, rounded up]; atomic, only ever set */
	/* Used once no VMA maps it. */
	struct port_rcu_head rcu;
	int64_t retired_bytes; /* of its pages */
};

static struct shared_anon *shared_anon_of(struct object *object)
{
	return container_of(object, struct shared_anon, object);
}

static size_t parts(const struct shared_anon *shared)
{
	return (shared->pages + PART_SLOTS - 1) / PART_SLOTS;
}

static void free_parts(struct shared_anon *shared)
{
	port_memory_free(shared->slot, shared->pages * sizeof(*shared->slot));
	port_memory_free(shared->used, parts(shared));
	port_memory_free(shared, sizeof(*shared));
}

void shared_anon_for_each(struct object *object, void (*visit)(void *argument, struct page *page),
			  void *argument)
{
	struct shared_anon *shared = shared_anon_of(object);

	for (size_t part = 0; part < parts(shared); part++) {
		uint64_t at = (uint64_t)part * PART_SLOTS, end = at + PART_SLOTS;

		if (!atomic_load_explicit(&shared->used[part], memory_order_relaxed))
			continue;
		for (; at < end && at < shared->pages; at++) {
			struct page *page = atomic_load_explicit(&shared->slot[at], memory_order_acquire);

			if (page)
				visit(argument, page);
		}
	}
}

static void put_page(void *frames, struct page *page)
{
	page_put(frames, page);
}

static void count_page(void *argument, struct page *page)
{
	int64_t *bytes = argument;

	(void)page;
	*bytes += (int64_t)PORT_PAGE_SIZE;
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	struct shared_anon *shared = container_of(head, struct shared_anon, rcu);

	frames_retired(shared->frames, -shared->retired_bytes);
	shared_anon_for_each(&shared->object, put_page, shared->frames);
	free_parts(shared);
}

static void destroy(struct object *object)
{
	struct shared_anon *shared = shared_anon_of(object);

	shared_anon_for_each(object, count_page, &shared->retired_bytes);
	frames_retired(shared->frames, shared->retired_bytes);
	port_rcu_call(&shared->rcu, free_after_grace_period);
}

static int make_page(struct shared_anon *shared, uint64_t index, struct charge *charge, struct page **page)
{
	struct page *fresh = charged_page_alloc(shared->frames, charge), *found = NULL;

	if (!fresh)
		return -ENOMEM;
	port_page_clear(page_address(shared->frames, fresh), shared->frames->structure_only);
	lru_add(shared->frames->lru, fresh, LRU_INACTIVE);
	/* Before the page: what has one is visited at the end. */
	if (!atomic_load_explicit(&shared->used[index / PART_SLOTS], memory_order_relaxed))
		atomic_store_explicit(&shared->used[index / PART_SLOTS], 1, memory_order_relaxed);
	/* Release: the zeroes come before the pointer. Acquire: a winner's do. */
	if (atomic_compare_exchange_strong_explicit(&shared->slot[index], &found, fresh, memory_order_acq_rel,
						    memory_order_acquire)) {
		*page = fresh;
	} else {
		frame_free(shared->frames, fresh);
		*page = found;
	}
	return 0;
}

static int get_page(struct object *object, uint64_t index, struct charge *charge, struct page **page)
{
	struct shared_anon *shared = shared_anon_of(object);
	int error = 0;

	if (index >= shared->pages)
		return -EFAULT;
	*page = atomic_load_explicit(&shared->slot[index], memory_order_acquire);
	if (!*page)
		error = make_page(shared, index, charge, page);
	/* The slot's reference keeps the page while the object can be reached. */
	if (!error)
		page_get(*page);
	return error;
}

static bool has_page(struct object *object, uint64_t index)
{
	struct shared_anon *shared = shared_anon_of(object);

	return index < shared->pages && atomic_load_explicit(&shared->slot[index], memory_order_relaxed);
}

static const struct object_ops shared_anon_ops = {
    .get_page = get_page,
    .has_page = has_page,
    .destroy = destroy,
};

struct object *shared_anon_create(struct frames *frames, uint64_t pages)
{
	struct shared_anon *shared =
	    port_memory_alloc(sizeof(*shared), PORT_NODE_FIRST_TOUCH, "struct shared_anon");

	if (!shared)
		return NULL;
	shared->object.ops = &shared_anon_ops;
	refcount_init(&shared->object.references, 1);
	shared->frames = frames;
	shared->pages = pages;
	shared->slot =
	    port_memory_alloc(pages * sizeof(*shared->slot), PORT_NODE_FIRST_TOUCH, "struct page *");
	shared->used = port_memory_alloc(parts(shared), PORT_NODE_FIRST_TOUCH, "uint8_t");
	if (!shared->slot || !shared->used) {
		free_parts(shared);
		return NULL;
	}
	return &shared->object;
}

bool object_is_shared_anon(const struct object *object)
{
	return object && object->ops == &shared_anon_ops;
}
