/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/system/: work on an object that is also work on the spaces that map it.
 */
#ifndef MM_SYSTEM_OBJECT_H
#define MM_SYSTEM_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/object/cache.h"

/* Empties the entries of all spaces for the pages [first, end); with `keep_copies` private copies stay. */
void object_unmap(struct sf_object *object, uint64_t first, uint64_t end, bool keep_copies);

/* objects_protect() of the system's objects. */
void object_protect(struct sf_object *object, uint64_t first, uint64_t end, bool tell);

/*
 * ftruncate, and fallocate's hole, of checked numbers; msync's part, which returns what is to be told. They
 * take the object's lock; nothing is held.
 */
int object_resize(struct sf_object *object, uint64_t bytes);
int object_punch(struct sf_object *object, uint64_t offset, uint64_t bytes);
int object_sync(struct sf_object *object, uint64_t offset, uint64_t bytes);

/* Makes what a page in memory has beyond `bytes` zeroes. The object's lock is held for writing. */
void object_zero_tail(struct sf_object *object, uint64_t bytes);

#endif
