/* SPDX-License-Identifier: MIT */
/*
 * Memory with exact LRU replacement: what hit rate, and how many write-outs, a sequence of touches would have
 * had if the page that was touched least lately always went. The measure for a real system that over-commits.
 */
#ifndef LAB_IDEAL_LRU_H
#define LAB_IDEAL_LRU_H

#include <stdbool.h>
#include <stdint.h>

struct ideal_lru;

/*
 * Makes one for pages 0 to `pages` - 1 with room for `room` of them, 1 or more; none is there yet. Returns
 * it, or NULL without memory. ideal_lru_destroy() frees it; NULL is allowed.
 */
struct ideal_lru *ideal_lru_create(uint32_t pages, uint32_t room);
void ideal_lru_destroy(struct ideal_lru *lru);

/*
 * Touches a page. Returns whether it was there. Sets *written to whether a page that had been written to
 * since it came had to go: one that went out before, and was not written to since, costs nothing.
 */
bool ideal_lru_touch(struct ideal_lru *lru, uint32_t page, bool write, bool *written);

#endif
