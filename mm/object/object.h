/* SPDX-License-Identifier: MIT */
/*
 * What a mapping maps, when it is not private anonymous memory: pages by their index, which is the VMA's
 * page_offset plus the page's distance from the VMA's start. Kinds: mm/object/shared_anon.h (memory that
 * forked spaces share), mm/object/pfn.h (frames by number).
 */
#ifndef MM_OBJECT_OBJECT_H
#define MM_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "sync/refcount.h"

struct charge;
struct object;
struct page;

struct object_ops {
	/*
	 * Finds the page at `index`, making it (cleared, and charged to `charge`) if the object has none, and
	 * takes a reference on it for the caller. Returns 0 with it in *page; -EFAULT when the object ends
	 * before (SIGBUS to who touches it); -ENOMEM when there is no frame or no memory for the index, with
	 * charge->over_limit as charged_page_alloc() sets it. Part of the fault path: takes spinning locks
	 * only. `charge` may be NULL for a page that is there. NULL for objects whose pages are not counted
	 * (VM_PFN).
	 */
	int (*get_page)(struct object *object, uint64_t index, struct charge *charge, struct page **page);

	/* Returns whether the object has a page at `index` (mincore). NULL as above. */
	bool (*has_page)(struct object *object, uint64_t index);

	/*
	 * Makes the object of a part of a mapping, `pages` from `index` on, when its VMA is cut, moved or
	 * copied by fork. Returns it with a reference, or NULL without memory. NULL here: the same object
	 * with one more reference does.
	 */
	struct object *(*part)(struct object *object, uint64_t index, uint64_t pages);

	/*
	 * The last reference is gone: no VMA that can be found maps the object. Faults that found one before
	 * may still be at work in their RCU read sections, so memory is given back after a grace period.
	 */
	void (*destroy)(struct object *object);
};

/* The first member of every object. Each VMA holds a reference. */
struct object {
	const struct object_ops *ops;
	struct refcount references;
	uint64_t checked; /* the check's own, which runs while nothing else does */
};

static inline void object_get(struct object *object)
{
	refcount_inc(&object->references);
}

/* Puts a reference. Not from the fault path. */
static inline void object_put(struct object *object)
{
	if (refcount_dec_and_test(&object->references))
		object->ops->destroy(object);
}

#endif
