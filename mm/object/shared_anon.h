/* SPDX-License-Identifier: MIT */
/*
 * Shared anonymous memory: what MAP_SHARED | MAP_ANONYMOUS makes, and what forked spaces go on sharing. It
 * has its size for good: a mapping that grows beyond it raises SIGBUS there.
 */
#ifndef MM_OBJECT_SHARED_ANON_H
#define MM_OBJECT_SHARED_ANON_H

#include "mm/object/object.h"
#include "mm/page/frames.h"

/*
 * Makes an object of `pages` pages, none of which is there yet, with frames of `frames`. Returns it with one
 * reference, or NULL when there is no memory. Not from the fault path.
 */
struct object *shared_anon_create(struct frames *frames, uint64_t pages);

bool object_is_shared_anon(const struct object *object);

/* Calls `visit` for every page of the object; for checks while nothing runs. */
void shared_anon_for_each(struct object *object, void (*visit)(void *argument, struct page *page),
			  void *argument);

#endif
