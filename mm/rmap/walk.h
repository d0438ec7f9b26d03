/* SPDX-License-Identifier: MIT */
/*
 * From a page to the places at which it could be mapped, whatever kind it is. Those for whom the walk is
 * all: mm/rmap/reverse_map.h is what is done with it.
 */
#ifndef MM_RMAP_WALK_H
#define MM_RMAP_WALK_H

#include "mm/page/page.h"
#include "mm/rmap/space.h"

/*
 * Calls `visit` for each place at which the page could be mapped, until it returns false. The caller has the
 * page locked, and a reference on it. Sleeps: semaphores of ranks MAPPINGS and ANON.
 */
void rmap_walk(struct page *page, rmap_visit *visit, void *argument);

#endif
