/* SPDX-License-Identifier: MIT */
/*
 * What keeps an object for a fault that waits for one of its pages with nothing held. A reference would be
 * one line that all CPUs write which fault on the object. Instead the CPU announces the object in a place of
 * its own, and whoever puts the last reference looks at these places: those that wait then end the object in
 * its stead.
 *
 *     fault                                        last reference
 *     F1  announce the object                      E1  the VMA is detached
 *     F2  load whether the VMA is detached         E2  its reference is put, which is the last
 *     F3  if not, wait with nothing held           E3  mark each announcement of the object
 *     F4  take the announcement back; the last     E4  none was there: end the object; else leave it to those
 *         that was marked ends the object
 *
 * F1, F2, E1 and E3 are sequentially consistent: either F2 sees E1, and the fault waits for nothing and
 * starts again, or E3 sees F1. An announcement that F2 says comes too late can be marked as well; where it is
 * not the object may be gone before F4, which looks at it only when it was marked.
 */
#ifndef MM_OBJECT_WAITER_H
#define MM_OBJECT_WAITER_H

#include <stdbool.h>

#include "mm/object/cache.h"

/* F1. The calling CPU waits for nothing else. */
void object_wait_begin(struct objects *objects, struct sf_object *object);

/* F4, for what the calling CPU has announced. With nothing held, as object_put(): it may end the object. */
void object_wait_end(struct objects *objects);

/* E3. The object's references are gone. Returns whether others will end it, by calling its destroy() again.
 */
bool object_wait_hand_over(struct sf_object *object);

#endif
