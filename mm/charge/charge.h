/* SPDX-License-Identifier: MIT */
/*
 * Charging a page of an object to the memory group of who needs it. There are no groups: everything is
 * allowed. Part of the fault path.
 */
#ifndef MM_CHARGE_CHARGE_H
#define MM_CHARGE_CHARGE_H

#include "mm/page/page.h"

/* Charges a new page, which only the caller knows. Returns 0, or -ENOMEM when the group may have no more. */
static inline int charge_cache_page(struct page *page)
{
	(void)page;
	return 0;
}

/* Takes it back: for a page that was charged and not used after all, or that has left its object. */
static inline void uncharge_cache_page(struct page *page)
{
	(void)page;
}

#endif
