/* SPDX-License-Identifier: MIT */
/*
 * What comes back after reclaim has taken it. A group ages by one with each page that is taken from it. The
 * place of a page that is gone keeps a *shadow*: the group's age then. When the page comes back, the
 * difference is its refault distance: how many more pages the group would have needed to keep it. One that
 * is no more than its active pages was taken too early: it competes with those, so it starts as an active
 * page.
 *
 * Each page that comes back is also a cost of its kind: reclaim looks less at the kind that costs more.
 *
 * All of it is part of the fault path and takes no lock.
 */
#ifndef MM_CHARGE_WORKINGSET_H
#define MM_CHARGE_WORKINGSET_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/charge/group.h"

/* A shadow is a number below 2^48, and never 0. */
#define WORKINGSET_SHADOW_BITS 48u

/*
 * A page is about to be taken by reclaim: ages its group. Returns the shadow. The caller has the page locked
 * and a reference on it, so that it is charged.
 */
uint64_t workingset_evict(const struct page *page);

/*
 * A page comes back where the shadow was; it is charged, and on no list yet. Sets PG_workingset if it was
 * active when it left, counts the cost, and returns to which list it belongs: LRU_ACTIVE or LRU_INACTIVE.
 * With a shadow of 0, as that of a swap slot, the distance is not known: LRU_ACTIVE.
 */
enum lru_list workingset_refault(struct page *page, uint64_t shadow);

#endif
