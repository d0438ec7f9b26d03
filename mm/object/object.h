/* SPDX-License-Identifier: MIT */
/*
 * What a mapping maps, when it is not anonymous memory alone: pages by their index, which is the VMA's
 * page_offset plus the page's distance from the VMA's start. Kinds: mm/object/cache.h (pages that the object
 * holds: shared memory, files), mm/object/pfn.h (frames by number).
 */
#ifndef MM_OBJECT_OBJECT_H
#define MM_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "sync/refcount.h"

struct charge;
struct object;
struct page;

struct object_ops {
	/*
	 * Finds the page at `index`, making it (cleared, and charged to `charge`) where the object need not
	 * read it from anywhere, and takes a reference on it for the caller. In an RCU read section, and with
	 * what keeps the object. Part of the fault path: takes spinning locks only. Returns
	 *   0             with it in *page, its contents there. It may be leaving the object: who maps it
	 *                 looks at PG_removed once more with the entry locked.
	 *   -EFAULT       the object ends before, or its limit is reached: SIGBUS to who touches it.
	 *   -ENOMEM       no frame for the page or for the index, or no room in the group: charge->over_limit
	 *                 says which, as charged_page_alloc() sets it.
	 *   -EINPROGRESS  wait_page() must be called, with nothing held, and then all begins again.
	 * NULL for objects whose pages are not counted (VM_PFN).
	 */
	int (*get_page)(struct object *object, uint64_t index, struct charge *charge, struct page **page);

	/*
	 * Reads the page at `index` in, charged to `charge`, or waits for who is at work on it. Sleeps;
	 * nothing is held but a reference on the object. Returns 0 when get_page() is to be tried again,
	 * -ENOMEM as above, or what the backing failed with. Part of the fault path, as far as a fault may
	 * sleep. NULL as above.
	 */
	int (*wait_page)(struct object *object, uint64_t index, struct charge *charge);

	/* Returns whether a touch of the page at `index` need not wait (mincore). In an RCU read section.
	 * NULL as above. */
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
	const struct object_ops *ops; /* read only */
	/* Faults read what lies beside the above; those who map and unmap write this. */
	CACHE_LINE_ALIGNED struct refcount references;
	uint64_t checked; /* the check's own, which runs while nothing else does */
};

static inline void object_get(struct object *object)
{
	refcount_inc(&object->references);
}

/*
 * Puts a reference. With nothing held but semaphores of rank SPACE and below: the end of a file waits for its
 * last pages to be written. A fault may, after it has waited for a page.
 */
static inline void object_put(struct object *object)
{
	if (refcount_dec_and_test(&object->references))
		object->ops->destroy(object);
}

#endif
