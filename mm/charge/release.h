/* SPDX-License-Identifier: MIT */
/*
 * Dropping the references of many pages at once: those that were the last take their pages off the LRU, then
 * the pages are uncharged together, then their frames go back. In what portions, the policy `release_batch`
 * says.
 */
#ifndef MM_CHARGE_RELEASE_H
#define MM_CHARGE_RELEASE_H

#include "mm/page/frames.h"

struct groups;

/* No bound: all that there is. */
#define RELEASE_ALL (~0u)

struct release_batch {
	unsigned free_pages; /* that a caller with more should hand to release_pages() at a time */
	unsigned lru_pages;  /* that are taken off the LRU without letting go of the lock in between */
};

/* By enum policy_release_batch. */
extern const struct release_batch release_batches[];

/*
 * Puts a reference of each page. Takes locks of ranks LRU and those of frame_release(), one at a time. Part
 * of the fault path.
 */
void release_pages(struct frames *frames, struct page **pages, unsigned count);

/* How many pages a caller should hand to release_pages() at a time. */
unsigned release_pages_batch(const struct frames *frames);

#endif
