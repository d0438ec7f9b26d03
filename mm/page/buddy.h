/* SPDX-License-Identifier: MIT */
/*
 * A binary buddy allocator: the free frames of one zone in blocks of 2^order frames that start at a multiple
 * of their size, of orders 0 to 10. Two free buddies of one order are never left apart; they make one block
 * of the next. Knuth, "The Art of Computer Programming", volume 1, section 2.5, has the method.
 *
 * A free block is known by its first struct page alone: its mapcount is PAGE_BUDDY + order, and it is in the
 * list of its order. Frames that were never handed out are in no block: when there is no free block the next
 * one, as large as can be, comes from behind the bump pointer.
 *
 * The caller keeps all others away: zone_lock.
 */
#ifndef MM_PAGE_BUDDY_H
#define MM_PAGE_BUDDY_H

#include "base/list.h"
#include "base/message.h"
#include "mm/page/frames.h"

#define BUDDY_ORDERS 11

/*
 * The kernel of 2009 keeps a list for each of five kinds of mobility here. It is as large as there, because
 * how many cache lines a hold of the lock touches depends on it.
 */
struct free_area {
	struct list blocks;
	char other_kinds[64];
	uint64_t count;
};

struct buddy {
	struct free_area area[BUDDY_ORDERS];
	uint64_t fresh;      /* the next frame that was never in a block; end: none left */
	uint64_t first, end; /* read only: the zone's frames */
};

/* Makes it hold the frames [first, end), which can be none. */
void buddy_init(struct buddy *buddy, uint64_t first, uint64_t end);

/* Takes one frame out of the smallest block that there is. Returns NULL when nothing is free. */
struct page *buddy_take(struct frames *frames, struct buddy *buddy);

/* Gives a frame back, and joins what is free on both sides. */
void buddy_give(struct frames *frames, struct buddy *buddy, struct page *page);

/*
 * Checks every block, and adds the number of all frames that it has to *free, and of those of them that have
 * PG_free to *returned. Returns 0, or -EINVAL with a message.
 */
int buddy_check(struct frames *frames, const struct buddy *buddy, uint64_t *free, uint64_t *returned,
		struct message *why);

#endif
