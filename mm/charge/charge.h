/* SPDX-License-Identifier: MIT */
/*
 * Charging pages to groups, and taking that back. All of it is part of the fault path and waits for nothing
 * but locks of ranks CHARGE_DEPOT and RES_COUNTER; locks of lower ranks may be held.
 *
 * Charged are pages of anonymous memory, of objects and of page tables, to the group of the space whose
 * fault made them. What sf_object_write() and sf_object_read() make is charged to the root: an object belongs
 * to no group, and who calls need have no space. Nodes of page indices are not charged: a frame holds seven,
 * of any objects; nor are the gathers' batches, which live no longer than a call.
 */
#ifndef MM_CHARGE_CHARGE_H
#define MM_CHARGE_CHARGE_H

#include "mm/charge/group.h"
#include "sync/rcu.h"

/*
 * Whom a piece of work charges, and who refused. The group is live as long as the charge is used: its user
 * holds a space in it from moving, or has called charge_begin() in the RCU read section that it is still in;
 * or it is the root.
 */
struct charge {
	struct sf_group *group;
	/* A space's group, for charge_begin(). NULL: the group above it is the one, all the time. */
	struct sf_group *_Atomic *source;
	/*
	 * After an error, the group whose limit is the reason: reclaiming its pages, or those below it, would
	 * help. NULL: there was no frame.
	 */
	struct sf_group *over_limit;
};

/* Looks who is to be charged until the end of the RCU read section that the caller is in. */
static inline void charge_begin(struct charge *charge)
{
	if (charge->source)
		charge->group = rcu_dereference(charge->source);
}

/*
 * Charges a page, which only the caller knows, has one reference and no group. Returns 0; or -ENOMEM with
 * charge->over_limit set and nothing charged.
 */
int mem_cgroup_charge(struct page *page, struct charge *charge);

/*
 * Returns a frame as frame_alloc(), charged; or NULL with charge->over_limit set, to NULL when there is no
 * frame.
 */
struct page *charged_page_alloc(struct frames *frames, struct charge *charge);

/* Takes back the charge of a page whose last reference is gone. */
void mem_cgroup_uncharge(struct page *page);

/* The same for all pages of a list, linked by page->lru: once for each run of pages of one group. */
void mem_cgroup_uncharge_list(struct list *pages);

/* Takes back so many pages' charge of a group. */
void uncharge_batch(struct sf_group *group, unsigned pages);

/* Who needs a page gives up after reclaim has freed nothing three times in a row. A time counts less when
 * pages were in use, maybe by who is about to free them; and little when others had all that could be had:
 * but they may be at it for ever.
 */
#define FRUITLESS_ROUND 16u
#define FRUITLESS_BUSY  4u
#define FRUITLESS_WAIT  1u
#define FRUITLESS_MAX   (3 * FRUITLESS_ROUND)

/*
 * After -ENOMEM for a page: reclaims in `over_limit`, the group that was full, and below it; or with NULL,
 * for frames, anywhere. Returns whether to try again: false where nobody reclaims, and when *fruitless, which
 * begins as 0, has come to FRUITLESS_MAX and the charge has been tried once more since. `source`: a space's
 * group, which `over_limit` was or was above of; NULL: the caller keeps the group live. Sleeps; nothing is
 * held, not in a read section. Part of the fault path.
 */
bool charge_make_room(struct groups *groups, struct sf_group *_Atomic *source, struct sf_group *over_limit,
		      unsigned *fruitless);

/*
 * Counts, outside of the read section of the charge, that a fault of a space failed in the end since
 * charge->over_limit was full; does nothing for NULL. Nor if the space has left that group meanwhile, which
 * can be gone then.
 */
void mem_cgroup_out_of_memory(const struct charge *charge);

/*
 * The calling CPU stops for a while, or for good: gives back what it has charged ahead, and puts the pages on
 * the LRU lists that it has added.
 */
void groups_cpu_idle(struct groups *groups);

#endif
