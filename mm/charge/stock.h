/* SPDX-License-Identifier: MIT */
/*
 * The policy `charge_stock`: what has been charged to a group ahead, so that most charges touch no line that
 * all CPUs share. A group counts at most 32 pages a CPU that are in no use.
 *
 *   none   nothing
 *   32     a CPU charges 32 pages at a time and keeps those that it does not need yet
 *   depot  a CPU keeps 16 pages; it takes them from a depot of its memory node, which has room for 16 a CPU
 *          and is filled from the counters when it is empty          mm/charge/stock_depot.c
 *
 * A stock is of one group at a time, and is one atomic word, with the group's address and the number of
 * pages. Its CPU alone puts one there, or in a depot who holds its lock; anybody may take it away by
 * exchanging the word for 0, and then gives it back to the group's counters. So draining needs no lock and
 * waits for nobody. Pages in a stock are charged, so the group exists as long as the word names it.
 */
#ifndef MM_CHARGE_STOCK_H
#define MM_CHARGE_STOCK_H

#include "mm/charge/group.h"

/* Pages in stock, at most, for each CPU. */
#define CHARGE_STOCK_PAGES 32u

struct memcg_stock {
	CACHE_LINE_ALIGNED _Atomic uint64_t word;
};

struct stock_depot {
	CACHE_LINE_ALIGNED struct memcg_stock stock; /* filled under the lock */
	struct spinlock lock;
	unsigned room; /* read only: pages */
};

struct stock_ops {
	unsigned cpu_pages; /* that a CPU keeps at most; 0: none */
	bool depots;
	/* Charges a page that is in no stock, and others ahead. Returns NULL, or who has no room. */
	struct counter *(*charge)(struct sf_group *group);
};

/* By enum policy_charge_stock. */
extern const struct stock_ops *const stock_choices[];
extern const struct stock_ops stock_depot_ops;

/* Makes the stocks of `groups`, empty, as stock_ops has them. Returns 0, or -ENOMEM; then too free them. */
int stocks_create(struct groups *groups);
void stocks_free(struct groups *groups);

/* Takes one page from the calling CPU's stock; false when there is none of that group. */
bool consume_stock(struct sf_group *group);

/* Puts pages that have just been charged into the calling CPU's stock, which has none of the group. */
void refill_stock(struct sf_group *group, unsigned pages);

/*
 * Puts one page that is charged to the group back into the calling CPU's stock, if that is the group's.
 * Returns how many pages the caller is to take back from the counters: 0, or one without a stock, or what is
 * too much there.
 */
unsigned return_to_stock(struct sf_group *group);

/* Gives back what the CPU and the depot of its node have in stock, of any group; any CPU may call it. */
void drain_stock(struct groups *groups, unsigned cpu);

/* Gives back all that is in stock of `group` and those below it. */
void drain_all_stock(struct sf_group *group);

/* Calls `visit` with what is in each stock that is not empty, while nothing runs. */
void stocks_for_each(struct groups *groups, void (*visit)(struct sf_group *group, unsigned pages));

/* A word's parts. No address of ours has more than 48 bits. */
#define STOCK_PAGES_SHIFT 48

static inline uint64_t stock_word(struct sf_group *group, unsigned pages)
{
	return pages ? (uint64_t)(uintptr_t)group | (uint64_t)pages << STOCK_PAGES_SHIFT : 0;
}

static inline struct sf_group *stock_group(uint64_t word)
{
	return (struct sf_group *)(uintptr_t)(word & (((uint64_t)1 << STOCK_PAGES_SHIFT) - 1));
}

static inline unsigned stock_pages(uint64_t word)
{
	return (unsigned)(word >> STOCK_PAGES_SHIFT);
}

/*
 * Changes a stock's word, if it is still *word; else *word becomes what it is. Acquire and release at every
 * change: who takes a stock, and gives it back, comes after those who charged.
 */
static inline bool stock_change(struct memcg_stock *stock, uint64_t *word, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&stock->word, word, to, memory_order_acq_rel,
						       memory_order_acquire);
}

/* Sets a stock's word and gives back what was there. */
void stock_replace(struct memcg_stock *stock, uint64_t to);

#endif
